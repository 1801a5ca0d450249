"""Trains a small convolutional net and a small transformer on made-up data, and logs both live.

    python examples/torch_train.py runs
    tensorboard --logdir runs

Each run gets its throughput as it goes, and a profile of two steps: ops, modules by attribute path, stacks, memory.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import stepscope
from stepscope.integrations.torch import profile_steps

BATCH = 16


def conv_net() -> tuple[nn.Module, DataLoader]:
    """A net for images of 3 x 16 x 16 and 10 classes, with data."""
    net = nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(4),
        nn.Flatten(),
        nn.Linear(256, 10),
    )
    images, labels = torch.randn(32 * BATCH, 3, 16, 16), torch.randint(10, (32 * BATCH,))
    return net, DataLoader(TensorDataset(images, labels), BATCH)


class Transformer(nn.Module):
    """Classifies sequences of 32 tokens."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(100, 32)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(32, 4, 64, batch_first=True) for _ in range(2)
        )
        self.head = nn.Linear(32, 10)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Scores of the classes."""
        hidden = self.embed(tokens)
        for layer in self.layers:
            hidden = layer(hidden)
        return self.head(hidden.mean(dim=1))


def transformer() -> tuple[nn.Module, DataLoader]:
    """The transformer with data."""
    tokens, labels = torch.randint(100, (32 * BATCH, 32)), torch.randint(10, (32 * BATCH,))
    return Transformer(), DataLoader(TensorDataset(tokens, labels), BATCH)


def train(model: nn.Module, loader: DataLoader, directory: Path, steps: int) -> None:
    """Trains for some steps, logging to a run directory."""
    optimizer = torch.optim.AdamW(model.parameters())
    loss_of = nn.CrossEntropyLoss()
    with stepscope.Writer(directory) as writer:
        rate = writer.throughput("train", log_every=5)
        with profile_steps(
            writer, steps=range(steps // 2, steps // 2 + 2), model=model
        ) as profiler:
            for step, (inputs, labels) in zip(range(steps), loader, strict=False):
                loss = loss_of(model(inputs), labels)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                rate.add(len(inputs), step=step)
                profiler.step()


def main() -> None:
    """Trains both models."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("logdir", type=Path, help="the log directory")
    parser.add_argument(
        "--steps", type=int, default=30, help="training steps of each model, at most 32"
    )
    options = parser.parse_args()
    torch.manual_seed(0)
    for name, make in (("conv", conv_net), ("transformer", transformer)):
        train(*make(), options.logdir / name, options.steps)


if __name__ == "__main__":
    main()
