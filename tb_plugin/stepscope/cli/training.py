"""A small training loop in numpy that logs its throughput: what the demo shows moving."""

from __future__ import annotations

import io
import threading
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import stepscope

CHECKPOINT_EVERY = 250
EVALUATE_EVERY = 400
FEATURES, HIDDEN = 256, 512

Float32s = NDArray[np.float32]


class Network:
    """Two dense layers, trained by plain gradient descent on a fixed random teacher."""

    def __init__(self, seed: int = 0) -> None:
        random = np.random.default_rng(seed)
        self._random = random
        self._teacher = random.standard_normal((FEATURES, 1), np.float32)
        self.first = random.standard_normal((FEATURES, HIDDEN), np.float32) / np.float32(16)
        self.second = random.standard_normal((HIDDEN, 1), np.float32) / np.float32(22)

    def batch(self, size: int) -> tuple[Float32s, Float32s]:
        """Fresh inputs and what the teacher says of them."""
        inputs = self._random.standard_normal((size, FEATURES), np.float32)
        return inputs, np.tanh(inputs @ self._teacher)

    def loss(self, inputs: Float32s, wanted: Float32s) -> float:
        """Mean squared error."""
        return float(np.mean((np.maximum(inputs @ self.first, 0) @ self.second - wanted) ** 2))

    def learn(self, inputs: Float32s, wanted: Float32s, rate: float = 1e-3) -> None:
        """One step of gradient descent."""
        hidden = np.maximum(inputs @ self.first, 0)
        error = (hidden @ self.second - wanted) / np.float32(len(inputs))
        back = (error @ self.second.T) * (hidden > 0)
        self.second -= np.float32(rate) * (hidden.T @ error)
        self.first -= np.float32(rate) * (inputs.T @ back)

    def save(self) -> bytes:
        """A checkpoint."""
        file = io.BytesIO()
        np.savez_compressed(file, first=self.first, second=self.second)
        return file.getvalue()


def train(
    directory: Path, seconds: float, batch: int = 64, stop: threading.Event | None = None
) -> None:
    """Trains for some seconds, with checkpoints and evaluations, and logs samples per second."""
    network = Network()
    step = 0
    until_s = time.monotonic() + seconds
    with stepscope.Writer(str(directory)) as writer:
        rate = writer.throughput("train", unit="samples", log_every=10)
        while time.monotonic() < until_s and not (stop and stop.is_set()):
            with rate.span("data"):
                inputs, wanted = network.batch(batch)
            network.learn(inputs, wanted)
            step += 1
            rate.add(batch, step=step)
            if step % CHECKPOINT_EVERY == 0:
                with rate.span("checkpoint"):
                    network.save()
            if step % EVALUATE_EVERY == 0:
                with rate.span("evaluation"):
                    network.loss(*network.batch(2048))
