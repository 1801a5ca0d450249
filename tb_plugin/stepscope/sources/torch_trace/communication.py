"""Which executions communicate, and what tells their calls apart, so that ranks can pair them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from stepscope.model.columns import Array, StringBuilder
from stepscope.model.profile import Communications
from stepscope.sources.torch_trace.numbers import integer, small

_COLLECTIVE = "Collective name"


class CommunicationRows:
    """Executions that communicate, collected part by part.

    Args:
        properties: The properties of kernels and collectives, by key.
    """

    def __init__(self, properties: Sequence[Mapping[str, str]]) -> None:
        self._properties = properties
        self._communicates = np.fromiter(
            (_COLLECTIVE in texts for texts in properties), bool, len(properties)
        )
        self._execution: list[Array] = []
        self._set: list[Array] = []
        self._sequence: list[Array] = []
        self._source: list[Array] = []
        self._destination: list[Array] = []

    def add(
        self,
        *,
        first_execution: int,
        properties: Array,
        sequence: Array,
        source: Array,
        destination: Array,
    ) -> None:
        """Takes a part's executions.

        Args:
            first_execution: The number of the part's first execution in all parts.
            properties: Of each execution, in the properties.
        """
        rows = np.flatnonzero(self._communicates[properties])
        self._execution.append(first_execution + rows)
        self._set.append(properties[rows])
        self._sequence.append(sequence[rows])
        self._source.append(source[rows])
        self._destination.append(destination[rows])

    def build(self, place: Array, strings: StringBuilder) -> Communications:
        """The group of the record.

        Args:
            place: The row of each execution in the record.
            strings: The record's strings.
        """
        execution = place[np.concatenate(self._execution)]
        order = np.argsort(execution, kind="stable")
        used = np.concatenate(self._set)[order]

        def texts(key: str) -> Array:
            numbers: Array = np.full(len(self._properties), -1, np.int64)
            for number in np.unique(used).tolist():
                value = self._properties[number].get(key)
                if value is not None:
                    numbers[number] = strings(value)
            of_rows: Array = numbers[used]
            return of_rows

        def counts(key: str, default: int) -> Array:
            values = [texts_of.get(key) for texts_of in self._properties]
            numbers = np.array([integer(value, default) for value in values], np.int64)
            of_rows: Array = numbers[used]
            return of_rows

        sizes = [small(texts_of.get("Group size"), 0) for texts_of in self._properties]
        return Communications(
            execution=execution[order],
            collective=texts(_COLLECTIVE),
            group=texts("Process Group Name"),
            ranks=texts("Process Group Ranks"),
            sequence=np.concatenate(self._sequence)[order],
            input_elements=counts("In msg nelems", -1),
            output_elements=counts("Out msg nelems", -1),
            dtype=texts("dtype"),
            group_size=np.array(sizes, np.int64)[used],
            source=_ranks(np.concatenate(self._source)[order]),
            destination=_ranks(np.concatenate(self._destination)[order]),
        )


def _ranks(numbers: Array) -> Array:
    return np.where((numbers >= 0) & (numbers < 1 << 31), numbers, -1)
