"""Trains a small network on eight virtual CPU devices, and logs throughput and a profile of two steps live.

python examples/jax_train.py runs
tensorboard --logdir runs
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

import stepscope
from stepscope.integrations.jax import Received, profile_steps

BATCH = 256
RATE = 0.1


def loss_of(params: dict[str, Any], x: Any, y: Any) -> Any:
    """The mean squared error of a two-layer network."""
    with jax.named_scope("hidden"):
        hidden = jnp.tanh(x @ params["w1"] + params["b1"])
    with jax.named_scope("output"):
        return jnp.mean((hidden @ params["w2"] - y) ** 2)


@jax.jit
def train_step(params: dict[str, Any], x: Any, y: Any) -> tuple[dict[str, Any], Any]:
    """One step of gradient descent."""
    loss, gradient = jax.value_and_grad(loss_of)(params, x, y)
    return jax.tree.map(lambda value, slope: value - RATE * slope, params, gradient), loss


def train(directory: Path, steps: int) -> float:
    """Trains for some steps, logging to a run directory; gives the last loss."""
    devices = NamedSharding(Mesh(np.array(jax.devices()), ("data",)), PartitionSpec("data"))
    keys = jax.random.split(jax.random.key(0), 4)
    params = {
        "w1": jax.random.normal(keys[0], (64, 128)) * RATE,
        "b1": jnp.zeros(128),
        "w2": jax.random.normal(keys[1], (128, 8)) * RATE,
    }
    x = jax.device_put(jax.random.normal(keys[2], (BATCH, 64)), devices)
    y = jax.device_put(jax.random.normal(keys[3], (BATCH, 8)), devices)
    with (
        stepscope.Writer(directory) as writer,
        profile_steps(writer, steps=range(2, 4)) as profiler,
    ):
        received = Received(writer.throughput("train", log_every=1))
        for step in range(steps):
            params, loss = train_step(params, x, y)
            received.add(loss, BATCH, step)
            profiler.step(loss)
        received.close()
    return float(loss)


def main() -> None:
    """Reads the command line and trains."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("logdir", type=Path)
    parser.add_argument("--steps", type=int, default=50)
    arguments = parser.parse_args()
    print(f"loss {train(arguments.logdir / 'jax', arguments.steps):.4f}")


if __name__ == "__main__":
    main()
