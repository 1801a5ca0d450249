"""Options of the dcn lens."""

from __future__ import annotations

from dataclasses import dataclass

from stepscope.errors import OptionError
from stepscope.lenses.options import option

DETAILS = ("brief", "full", "occurrences")


@dataclass(frozen=True)
class DcnOptions:
    """Options of the dcn lens.

    Raises:
        OptionError: A value is out of its range.
    """

    host: tuple[str, ...] = option((), "Only these hosts; all when not given")
    core: tuple[str, ...] = option((), "Only these cores, by their number; all when not given")
    program: tuple[str, ...] = option(
        (), "Only these programs, with or without their id; all when not given"
    )
    rendezvous: tuple[str, ...] = option((), "Only these collectives; all when not given")
    transfer_type: tuple[str, ...] = option(
        (), "Only these transfer types, such as ALL_REDUCE; all when not given"
    )
    network_gbps: float | None = option(
        None, "What the network of one host can carry, in Gbit/s, to compare with"
    )
    cores_per_host: int | None = option(
        None, "Cores that share a host's network; those in the profile if not given"
    )
    detail: str = option(
        "brief",
        "brief: the tables; full: also distributions, diagnosis and network transfers; occurrences: also each of them",
        choices=DETAILS,
    )
    offset: int = option(0, "First occurrence listed with detail=occurrences")
    limit: int = option(1000, "At most so many occurrences with detail=occurrences")

    def __post_init__(self) -> None:
        """Checks the ranges."""
        if self.detail not in DETAILS:
            raise OptionError(f"detail is {self.detail!r}", remedy=f"Choose {', '.join(DETAILS)}")
        if self.network_gbps is not None and not 0 < self.network_gbps < 1e9:
            raise OptionError(
                f"network_gbps is {self.network_gbps}",
                remedy="Give the Gbit/s of one host's network",
            )
        if self.cores_per_host is not None and self.cores_per_host < 1:
            raise OptionError(f"cores_per_host is {self.cores_per_host}", remedy="Give 1 or more")
        for name in ("offset", "limit"):
            if getattr(self, name) < 0:
                raise OptionError(f"{name} is {getattr(self, name)}", remedy="Give 0 or more")
