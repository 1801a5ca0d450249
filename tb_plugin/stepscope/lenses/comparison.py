"""What a comparison of two results is, in the lenses whose rows are documents already."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Comparison:
    """Rows of `a` beside those of `b`. A delta is a minus b.

    Attributes:
        a: What is compared, in words.
        b: With what.
        rows: Each with its key, both sides, the deltas, and the state: both, added (only in a) or removed (only in b).
        unmatched_share: The share of what is compared that has no counterpart, 0 to 1.
    """

    a: str
    b: str
    rows: tuple[dict[str, Any], ...]
    unmatched_share: float

    def to_json(self, limit: int | None = None) -> dict[str, Any]:
        """The comparison document of the public surface. A limit is for trees: these rows are few, and all returned."""
        return {
            "a": self.a,
            "b": self.b,
            "rows": list(self.rows),
            "unmatched_share": self.unmatched_share,
        }
