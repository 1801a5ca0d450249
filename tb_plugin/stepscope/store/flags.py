"""What TensorBoard has to keep of our tags."""

from __future__ import annotations

from argparse import Namespace

from stepscope.store.events import PLUGIN_NAME


def set_sampling(flags: Namespace) -> None:
    """Makes both of TensorBoard's loaders keep exactly the last value of our tags, unless the user said otherwise."""
    samples = getattr(flags, "samples_per_plugin", None)
    if isinstance(samples, dict):
        samples.setdefault(PLUGIN_NAME, 1)
