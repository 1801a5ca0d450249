"""Records the profile that `stepscope demo` shows: a small convolutional net with an attention block, on the CPU.

    python examples/record_demo_profile.py tb_plugin/stepscope/cli/samples/small_net.pt.trace.json.gz

Needs torch. Paths of the machine and everything but the events are left out of the file.
"""

from __future__ import annotations

import gzip
import json
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, record_function, schedule

BATCH, CLASSES, WIDTH = 16, 10, 24
KEPT = (
    "schemaVersion",
    "deviceProperties",
    "with_stack",
    "record_shapes",
    "profile_memory",
    "displayTimeUnit",
)


class SmallNet(nn.Module):
    """Two convolutions, one attention block and a classifier."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, WIDTH, 3, padding=1), nn.BatchNorm2d(WIDTH), nn.ReLU(), nn.MaxPool2d(2)
        )
        self.body = nn.Sequential(nn.Conv2d(WIDTH, WIDTH, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2))
        self.attention = nn.MultiheadAttention(WIDTH, 4, batch_first=True)
        self.head = nn.Linear(WIDTH, CLASSES)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Class scores of a batch of 32 x 32 images."""
        with record_function("stem"):
            features = self.stem(images)
        with record_function("body"):
            features = self.body(features).flatten(2).transpose(1, 2)
        with record_function("attention"):
            mixed, _ = self.attention(features, features, features, need_weights=False)
        with record_function("head"):
            return self.head(mixed.mean(1))


def record(trace: Path) -> None:
    """Trains for three recorded steps and writes torch's trace."""
    torch.manual_seed(0)
    net, loss = SmallNet(), nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(net.parameters(), 0.01, momentum=0.9)
    steps = schedule(wait=1, warmup=2, active=3)
    with profile(
        activities=[ProfilerActivity.CPU],
        schedule=steps,
        record_shapes=True,
        profile_memory=True,
        with_stack=True,
        on_trace_ready=lambda done: done.export_chrome_trace(str(trace)),
    ) as profiler:
        for _ in range(6):
            with record_function("data"):
                images, labels = torch.randn(BATCH, 3, 32, 32), torch.randint(CLASSES, (BATCH,))
            with record_function("forward"):
                error = loss(net(images), labels)
            with record_function("backward"):
                error.backward()
            optimizer.step()
            optimizer.zero_grad()
            profiler.step()


def cleaned(document: dict[str, Any]) -> dict[str, Any]:
    """The trace without the machine's paths and without what only describes the machine."""
    prefixes = [sysconfig.get_paths()[key] + "/" for key in ("purelib", "stdlib")] + [
        str(Path.cwd()) + "/"
    ]
    for event in document["traceEvents"]:
        for prefix in prefixes:
            event["name"] = event["name"].replace(prefix, "")
    kept = {key: document[key] for key in KEPT if key in document}
    base = {"baseTimeNanoseconds": document["baseTimeNanoseconds"]}
    return kept | base | {"traceEvents": document["traceEvents"]}


def main() -> None:
    """Records, cleans and writes the sample."""
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "trace.json"
        record(trace)
        text = json.dumps(
            cleaned(json.loads(trace.read_text(encoding="utf-8"))), separators=(",", ":")
        )
    Path(sys.argv[1]).write_bytes(gzip.compress(text.encode(), 9, mtime=0))


if __name__ == "__main__":
    main()
