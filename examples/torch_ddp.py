"""Trains a small net with DistributedDataParallel on two processes of this machine, and logs every rank live.

    python examples/torch_ddp.py runs
    tensorboard --logdir runs

Each rank is a run of its own. Views has them side by side under *ranks*: computation, communication, and who waits
for whom.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import torch
from torch import distributed, multiprocessing, nn
from torch.nn.parallel import DistributedDataParallel

import stepscope
from stepscope.integrations.torch import profile_steps

BATCH = 64


def train(rank: int, ranks: int, meeting: str, logdir: Path, steps: int) -> None:
    """What each process does: trains for some steps, logging to a run of its rank."""
    torch.set_num_threads(1)
    torch.manual_seed(rank)
    distributed.init_process_group(
        "gloo", init_method=f"file://{meeting}", rank=rank, world_size=ranks
    )
    net = DistributedDataParallel(nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 10)))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    loss_of = nn.CrossEntropyLoss()
    with stepscope.Writer(logdir / f"rank{rank}") as writer:
        rate = writer.throughput("train", log_every=5)
        with profile_steps(writer, steps=range(steps // 2, steps // 2 + 2), model=net) as profiler:
            for step in range(steps):
                inputs, labels = torch.randn(BATCH, 64), torch.randint(10, (BATCH,))
                optimizer.zero_grad()
                loss_of(net(inputs), labels).backward()
                optimizer.step()
                rate.add(BATCH, step=step)
                profiler.step()
    distributed.destroy_process_group()


def main() -> None:
    """Starts the processes and waits for them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("logdir", type=Path, help="the log directory")
    parser.add_argument("--steps", type=int, default=30, help="training steps")
    parser.add_argument("--ranks", type=int, default=2, help="processes")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        arguments = (options.ranks, str(Path(folder) / "meeting"), options.logdir, options.steps)
        multiprocessing.spawn(train, arguments, nprocs=options.ranks)


if __name__ == "__main__":
    main()
