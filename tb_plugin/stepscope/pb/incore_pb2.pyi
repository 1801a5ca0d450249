from stepscope.pb import common_pb2 as _common_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Timing(_message.Message):
    __slots__ = ("stamp",)
    STAMP_FIELD_NUMBER: _ClassVar[int]
    stamp: _common_pb2.Column
    def __init__(self, stamp: _Optional[_Union[_common_pb2.Column, _Mapping]] = ...) -> None: ...

class Events(_message.Message):
    __slots__ = ("name", "word", "kind", "meaning")
    NAME_FIELD_NUMBER: _ClassVar[int]
    WORD_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    MEANING_FIELD_NUMBER: _ClassVar[int]
    name: _common_pb2.Column
    word: _common_pb2.Column
    kind: _common_pb2.Column
    meaning: _common_pb2.Column
    def __init__(self, name: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., word: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., kind: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., meaning: _Optional[_Union[_common_pb2.Column, _Mapping]] = ...) -> None: ...

class Boundaries(_message.Message):
    __slots__ = ("name", "word", "reducer", "masked", "slot_end")
    NAME_FIELD_NUMBER: _ClassVar[int]
    WORD_FIELD_NUMBER: _ClassVar[int]
    REDUCER_FIELD_NUMBER: _ClassVar[int]
    MASKED_FIELD_NUMBER: _ClassVar[int]
    SLOT_END_FIELD_NUMBER: _ClassVar[int]
    name: _common_pb2.Column
    word: _common_pb2.Column
    reducer: _common_pb2.Column
    masked: _common_pb2.Column
    slot_end: _common_pb2.Column
    def __init__(self, name: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., word: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., reducer: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., masked: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., slot_end: _Optional[_Union[_common_pb2.Column, _Mapping]] = ...) -> None: ...

class SlotList(_message.Message):
    __slots__ = ("slot",)
    SLOT_FIELD_NUMBER: _ClassVar[int]
    slot: _common_pb2.Column
    def __init__(self, slot: _Optional[_Union[_common_pb2.Column, _Mapping]] = ...) -> None: ...

class Masks(_message.Message):
    __slots__ = ("participating_end", "producers_end")
    PARTICIPATING_END_FIELD_NUMBER: _ClassVar[int]
    PRODUCERS_END_FIELD_NUMBER: _ClassVar[int]
    participating_end: _common_pb2.Column
    producers_end: _common_pb2.Column
    def __init__(self, participating_end: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., producers_end: _Optional[_Union[_common_pb2.Column, _Mapping]] = ...) -> None: ...

class Checks(_message.Message):
    __slots__ = ("kind", "word", "base", "per_invocation", "per_slot")
    KIND_FIELD_NUMBER: _ClassVar[int]
    WORD_FIELD_NUMBER: _ClassVar[int]
    BASE_FIELD_NUMBER: _ClassVar[int]
    PER_INVOCATION_FIELD_NUMBER: _ClassVar[int]
    PER_SLOT_FIELD_NUMBER: _ClassVar[int]
    kind: _common_pb2.Column
    word: _common_pb2.Column
    base: _common_pb2.Column
    per_invocation: _common_pb2.Column
    per_slot: _common_pb2.Column
    def __init__(self, kind: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., word: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., base: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., per_invocation: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., per_slot: _Optional[_Union[_common_pb2.Column, _Mapping]] = ...) -> None: ...

class Cores(_message.Message):
    __slots__ = ("slot", "engine", "core", "name")
    SLOT_FIELD_NUMBER: _ClassVar[int]
    ENGINE_FIELD_NUMBER: _ClassVar[int]
    CORE_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    slot: _common_pb2.Column
    engine: _common_pb2.Column
    core: _common_pb2.Column
    name: _common_pb2.Column
    def __init__(self, slot: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., engine: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., core: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., name: _Optional[_Union[_common_pb2.Column, _Mapping]] = ...) -> None: ...

class TaskBounds(_message.Message):
    __slots__ = ("start", "end")
    START_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    start: _common_pb2.Column
    end: _common_pb2.Column
    def __init__(self, start: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., end: _Optional[_Union[_common_pb2.Column, _Mapping]] = ...) -> None: ...

class Runs(_message.Message):
    __slots__ = ("run", "pair", "variant", "order", "device", "inputs", "configuration", "producer_start", "producer_end", "consumer_start", "consumer_end")
    RUN_FIELD_NUMBER: _ClassVar[int]
    PAIR_FIELD_NUMBER: _ClassVar[int]
    VARIANT_FIELD_NUMBER: _ClassVar[int]
    ORDER_FIELD_NUMBER: _ClassVar[int]
    DEVICE_FIELD_NUMBER: _ClassVar[int]
    INPUTS_FIELD_NUMBER: _ClassVar[int]
    CONFIGURATION_FIELD_NUMBER: _ClassVar[int]
    PRODUCER_START_FIELD_NUMBER: _ClassVar[int]
    PRODUCER_END_FIELD_NUMBER: _ClassVar[int]
    CONSUMER_START_FIELD_NUMBER: _ClassVar[int]
    CONSUMER_END_FIELD_NUMBER: _ClassVar[int]
    run: _common_pb2.Column
    pair: _common_pb2.Column
    variant: _common_pb2.Column
    order: _common_pb2.Column
    device: _common_pb2.Column
    inputs: _common_pb2.Column
    configuration: _common_pb2.Column
    producer_start: _common_pb2.Column
    producer_end: _common_pb2.Column
    consumer_start: _common_pb2.Column
    consumer_end: _common_pb2.Column
    def __init__(self, run: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., pair: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., variant: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., order: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., device: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., inputs: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., configuration: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., producer_start: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., producer_end: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., consumer_start: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., consumer_end: _Optional[_Union[_common_pb2.Column, _Mapping]] = ...) -> None: ...

class ReadPairs(_message.Message):
    __slots__ = ("first", "second")
    FIRST_FIELD_NUMBER: _ClassVar[int]
    SECOND_FIELD_NUMBER: _ClassVar[int]
    first: _common_pb2.Column
    second: _common_pb2.Column
    def __init__(self, first: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., second: _Optional[_Union[_common_pb2.Column, _Mapping]] = ...) -> None: ...

class Envelopes(_message.Message):
    __slots__ = ("total_cycles", "instrumented")
    TOTAL_CYCLES_FIELD_NUMBER: _ClassVar[int]
    INSTRUMENTED_FIELD_NUMBER: _ClassVar[int]
    total_cycles: _common_pb2.Column
    instrumented: _common_pb2.Column
    def __init__(self, total_cycles: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., instrumented: _Optional[_Union[_common_pb2.Column, _Mapping]] = ...) -> None: ...

class Tasks(_message.Message):
    __slots__ = ("task", "core", "dispatch_id", "receive", "start", "end", "dispatch", "finish", "function", "epoch")
    TASK_FIELD_NUMBER: _ClassVar[int]
    CORE_FIELD_NUMBER: _ClassVar[int]
    DISPATCH_ID_FIELD_NUMBER: _ClassVar[int]
    RECEIVE_FIELD_NUMBER: _ClassVar[int]
    START_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    DISPATCH_FIELD_NUMBER: _ClassVar[int]
    FINISH_FIELD_NUMBER: _ClassVar[int]
    FUNCTION_FIELD_NUMBER: _ClassVar[int]
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    task: _common_pb2.Column
    core: _common_pb2.Column
    dispatch_id: _common_pb2.Column
    receive: _common_pb2.Column
    start: _common_pb2.Column
    end: _common_pb2.Column
    dispatch: _common_pb2.Column
    finish: _common_pb2.Column
    function: _common_pb2.Column
    epoch: _common_pb2.Column
    def __init__(self, task: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., core: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., dispatch_id: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., receive: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., start: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., end: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., dispatch: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., finish: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., function: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., epoch: _Optional[_Union[_common_pb2.Column, _Mapping]] = ...) -> None: ...

class Functions(_message.Message):
    __slots__ = ("id", "name")
    ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    id: _common_pb2.Column
    name: _common_pb2.Column
    def __init__(self, id: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., name: _Optional[_Union[_common_pb2.Column, _Mapping]] = ...) -> None: ...

class Dependencies(_message.Message):
    __slots__ = ("predecessor", "successor", "source")
    PREDECESSOR_FIELD_NUMBER: _ClassVar[int]
    SUCCESSOR_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    predecessor: _common_pb2.Column
    successor: _common_pb2.Column
    source: _common_pb2.Column
    def __init__(self, predecessor: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., successor: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., source: _Optional[_Union[_common_pb2.Column, _Mapping]] = ...) -> None: ...

class Activities(_message.Message):
    __slots__ = ("lane", "kind", "clock", "start", "end", "task", "has_task")
    LANE_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    CLOCK_FIELD_NUMBER: _ClassVar[int]
    START_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    TASK_FIELD_NUMBER: _ClassVar[int]
    HAS_TASK_FIELD_NUMBER: _ClassVar[int]
    lane: _common_pb2.Column
    kind: _common_pb2.Column
    clock: _common_pb2.Column
    start: _common_pb2.Column
    end: _common_pb2.Column
    task: _common_pb2.Column
    has_task: _common_pb2.Column
    def __init__(self, lane: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., kind: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., clock: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., start: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., end: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., task: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., has_task: _Optional[_Union[_common_pb2.Column, _Mapping]] = ...) -> None: ...

class InCore(_message.Message):
    __slots__ = ("header", "title", "dims", "shape", "slots", "columns", "clock_freq_hz", "unit", "epoch", "variant", "pair", "device", "inputs", "configuration", "slot_map", "has_participating", "has_producers", "task_unit", "task_epoch", "task_id", "task_source", "strings", "timing", "events", "boundaries", "boundary_slots", "masks", "participating", "producers", "checks", "cores", "task_bounds", "runs", "read_pairs", "envelopes", "capture_format", "capture_level", "capture_base", "tasks", "functions", "dependencies", "activities")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    DIMS_FIELD_NUMBER: _ClassVar[int]
    SHAPE_FIELD_NUMBER: _ClassVar[int]
    SLOTS_FIELD_NUMBER: _ClassVar[int]
    COLUMNS_FIELD_NUMBER: _ClassVar[int]
    CLOCK_FREQ_HZ_FIELD_NUMBER: _ClassVar[int]
    UNIT_FIELD_NUMBER: _ClassVar[int]
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    VARIANT_FIELD_NUMBER: _ClassVar[int]
    PAIR_FIELD_NUMBER: _ClassVar[int]
    DEVICE_FIELD_NUMBER: _ClassVar[int]
    INPUTS_FIELD_NUMBER: _ClassVar[int]
    CONFIGURATION_FIELD_NUMBER: _ClassVar[int]
    SLOT_MAP_FIELD_NUMBER: _ClassVar[int]
    HAS_PARTICIPATING_FIELD_NUMBER: _ClassVar[int]
    HAS_PRODUCERS_FIELD_NUMBER: _ClassVar[int]
    TASK_UNIT_FIELD_NUMBER: _ClassVar[int]
    TASK_EPOCH_FIELD_NUMBER: _ClassVar[int]
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    TASK_SOURCE_FIELD_NUMBER: _ClassVar[int]
    STRINGS_FIELD_NUMBER: _ClassVar[int]
    TIMING_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    BOUNDARIES_FIELD_NUMBER: _ClassVar[int]
    BOUNDARY_SLOTS_FIELD_NUMBER: _ClassVar[int]
    MASKS_FIELD_NUMBER: _ClassVar[int]
    PARTICIPATING_FIELD_NUMBER: _ClassVar[int]
    PRODUCERS_FIELD_NUMBER: _ClassVar[int]
    CHECKS_FIELD_NUMBER: _ClassVar[int]
    CORES_FIELD_NUMBER: _ClassVar[int]
    TASK_BOUNDS_FIELD_NUMBER: _ClassVar[int]
    RUNS_FIELD_NUMBER: _ClassVar[int]
    READ_PAIRS_FIELD_NUMBER: _ClassVar[int]
    ENVELOPES_FIELD_NUMBER: _ClassVar[int]
    CAPTURE_FORMAT_FIELD_NUMBER: _ClassVar[int]
    CAPTURE_LEVEL_FIELD_NUMBER: _ClassVar[int]
    CAPTURE_BASE_FIELD_NUMBER: _ClassVar[int]
    TASKS_FIELD_NUMBER: _ClassVar[int]
    FUNCTIONS_FIELD_NUMBER: _ClassVar[int]
    DEPENDENCIES_FIELD_NUMBER: _ClassVar[int]
    ACTIVITIES_FIELD_NUMBER: _ClassVar[int]
    header: _common_pb2.Header
    title: str
    dims: _containers.RepeatedScalarFieldContainer[str]
    shape: _containers.RepeatedScalarFieldContainer[int]
    slots: int
    columns: int
    clock_freq_hz: int
    unit: str
    epoch: str
    variant: str
    pair: int
    device: str
    inputs: str
    configuration: str
    slot_map: str
    has_participating: bool
    has_producers: bool
    task_unit: str
    task_epoch: str
    task_id: str
    task_source: str
    strings: _common_pb2.StringTable
    timing: Timing
    events: Events
    boundaries: Boundaries
    boundary_slots: SlotList
    masks: Masks
    participating: SlotList
    producers: SlotList
    checks: Checks
    cores: Cores
    task_bounds: TaskBounds
    runs: Runs
    read_pairs: ReadPairs
    envelopes: Envelopes
    capture_format: str
    capture_level: int
    capture_base: str
    tasks: Tasks
    functions: Functions
    dependencies: Dependencies
    activities: Activities
    def __init__(self, header: _Optional[_Union[_common_pb2.Header, _Mapping]] = ..., title: _Optional[str] = ..., dims: _Optional[_Iterable[str]] = ..., shape: _Optional[_Iterable[int]] = ..., slots: _Optional[int] = ..., columns: _Optional[int] = ..., clock_freq_hz: _Optional[int] = ..., unit: _Optional[str] = ..., epoch: _Optional[str] = ..., variant: _Optional[str] = ..., pair: _Optional[int] = ..., device: _Optional[str] = ..., inputs: _Optional[str] = ..., configuration: _Optional[str] = ..., slot_map: _Optional[str] = ..., has_participating: bool = ..., has_producers: bool = ..., task_unit: _Optional[str] = ..., task_epoch: _Optional[str] = ..., task_id: _Optional[str] = ..., task_source: _Optional[str] = ..., strings: _Optional[_Union[_common_pb2.StringTable, _Mapping]] = ..., timing: _Optional[_Union[Timing, _Mapping]] = ..., events: _Optional[_Union[Events, _Mapping]] = ..., boundaries: _Optional[_Union[Boundaries, _Mapping]] = ..., boundary_slots: _Optional[_Union[SlotList, _Mapping]] = ..., masks: _Optional[_Union[Masks, _Mapping]] = ..., participating: _Optional[_Union[SlotList, _Mapping]] = ..., producers: _Optional[_Union[SlotList, _Mapping]] = ..., checks: _Optional[_Union[Checks, _Mapping]] = ..., cores: _Optional[_Union[Cores, _Mapping]] = ..., task_bounds: _Optional[_Union[TaskBounds, _Mapping]] = ..., runs: _Optional[_Union[Runs, _Mapping]] = ..., read_pairs: _Optional[_Union[ReadPairs, _Mapping]] = ..., envelopes: _Optional[_Union[Envelopes, _Mapping]] = ..., capture_format: _Optional[str] = ..., capture_level: _Optional[int] = ..., capture_base: _Optional[str] = ..., tasks: _Optional[_Union[Tasks, _Mapping]] = ..., functions: _Optional[_Union[Functions, _Mapping]] = ..., dependencies: _Optional[_Union[Dependencies, _Mapping]] = ..., activities: _Optional[_Union[Activities, _Mapping]] = ...) -> None: ...
