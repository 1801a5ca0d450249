"""Trains a small model on two processes with DistributedDataParallel and gloo, each logging its rank.

    python examples/torch_ddp.py runs
    tensorboard --logdir runs

Every rank is one run. Their profiles show the all-reduces that DDP starts during the backward pass.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

import stepscope
from stepscope.integrations.torch import profile_steps


def train(rank: int, ranks: int, store: str, logdir: str, steps: int) -> None:
    """Trains one rank."""
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=ranks)
    torch.manual_seed(rank)
    model = DistributedDataParallel(nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with stepscope.Writer(Path(logdir) / f"rank-{rank}", rank=rank, world_size=ranks) as writer:
        rate = writer.throughput("train", log_every=2)
        with profile_steps(writer, steps=[steps // 2], model=model) as profiler:
            for step in range(steps):
                loss = nn.functional.cross_entropy(model(torch.randn(32, 64)), torch.randint(10, (32,)))
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                rate.add(32, step=step)
                profiler.step()
    dist.destroy_process_group()


def main() -> None:
    """Starts the ranks and waits for them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("logdir", help="the log directory")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--steps", type=int, default=10)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        settings = (options.ranks, f"{folder}/store", options.logdir, options.steps)
        torch.multiprocessing.spawn(train, settings, nprocs=options.ranks)


if __name__ == "__main__":
    main()
