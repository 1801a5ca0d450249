"""What a collective costs and who waits in it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stepscope.lenses.incore.boundaries import reduce_members
from stepscope.lenses.incore.exactness import difference
from stepscope.model.arrays import U64, Array, Bools
from stepscope.model.incore import Reducer


@dataclass(frozen=True)
class Collective:
    """Diagnostics of a collective, in cycles per invocation, with arrival b and release a of each participating slot.

    Attributes:
        arrival_skew: max b - min b.
        first_release_service: min a - max b; negative when someone was let go before the last arrived.
        release_skew: max a - min a.
        full_release_tail: max a - max b.
        early_core_residence: max over slots of a - b; it contains arrival skew.
        resident: [invocation, slot]: the slots with the longest residence.
        last_arrival: The slots that arrived last.
        first_release: The slots that were released first.
    """

    arrival_skew: Array
    first_release_service: Array
    release_skew: Array
    full_release_tail: Array
    early_core_residence: Array
    resident: Bools
    last_arrival: Bools
    first_release: Bools


DURATIONS = (
    "arrival_skew",
    "first_release_service",
    "release_skew",
    "full_release_tail",
    "early_core_residence",
)


def diagnose(arrival: U64, release: U64, members: Bools) -> Collective:
    """Diagnoses a collective from stamps [invocation, slot] whose rows are in order."""
    first_arrival = reduce_members(arrival, members, Reducer.MIN)
    last_arrival = reduce_members(arrival, members, Reducer.MAX)
    first_release = reduce_members(release, members, Reducer.MIN)
    last_release = reduce_members(release, members, Reducer.MAX)
    residence = np.where(members, release - arrival, np.uint64(0))
    longest = residence.max(axis=1)
    return Collective(
        arrival_skew=difference(last_arrival, first_arrival),
        first_release_service=difference(first_release, last_arrival),
        release_skew=difference(last_release, first_release),
        full_release_tail=difference(last_release, last_arrival),
        early_core_residence=longest,
        resident=members & (residence == longest[:, None]),
        last_arrival=members & (arrival == last_arrival[:, None]),
        first_release=members & (release == first_release[:, None]),
    )
