from stepscope.pb import common_pb2 as _common_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Marks(_message.Message):
    __slots__ = ("step", "time_ns", "count")
    STEP_FIELD_NUMBER: _ClassVar[int]
    TIME_NS_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    step: _common_pb2.Column
    time_ns: _common_pb2.Column
    count: _common_pb2.Column
    def __init__(self, step: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., time_ns: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., count: _Optional[_Union[_common_pb2.Column, _Mapping]] = ...) -> None: ...

class Samples(_message.Message):
    __slots__ = ("step", "time_ns", "mark_end")
    STEP_FIELD_NUMBER: _ClassVar[int]
    TIME_NS_FIELD_NUMBER: _ClassVar[int]
    MARK_END_FIELD_NUMBER: _ClassVar[int]
    step: _common_pb2.Column
    time_ns: _common_pb2.Column
    mark_end: _common_pb2.Column
    def __init__(self, step: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., time_ns: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., mark_end: _Optional[_Union[_common_pb2.Column, _Mapping]] = ...) -> None: ...

class Reported(_message.Message):
    __slots__ = ("sample", "local_samples_per_sec", "avg_samples_per_sec", "tflops_per_device", "mfu")
    SAMPLE_FIELD_NUMBER: _ClassVar[int]
    LOCAL_SAMPLES_PER_SEC_FIELD_NUMBER: _ClassVar[int]
    AVG_SAMPLES_PER_SEC_FIELD_NUMBER: _ClassVar[int]
    TFLOPS_PER_DEVICE_FIELD_NUMBER: _ClassVar[int]
    MFU_FIELD_NUMBER: _ClassVar[int]
    sample: _common_pb2.Column
    local_samples_per_sec: _common_pb2.Column
    avg_samples_per_sec: _common_pb2.Column
    tflops_per_device: _common_pb2.Column
    mfu: _common_pb2.Column
    def __init__(self, sample: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., local_samples_per_sec: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., avg_samples_per_sec: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., tflops_per_device: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., mfu: _Optional[_Union[_common_pb2.Column, _Mapping]] = ...) -> None: ...

class Resets(_message.Message):
    __slots__ = ("time_ns", "offset_ns", "kind", "mark_end", "sample_end")
    TIME_NS_FIELD_NUMBER: _ClassVar[int]
    OFFSET_NS_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    MARK_END_FIELD_NUMBER: _ClassVar[int]
    SAMPLE_END_FIELD_NUMBER: _ClassVar[int]
    time_ns: _common_pb2.Column
    offset_ns: _common_pb2.Column
    kind: _common_pb2.Column
    mark_end: _common_pb2.Column
    sample_end: _common_pb2.Column
    def __init__(self, time_ns: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., offset_ns: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., kind: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., mark_end: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., sample_end: _Optional[_Union[_common_pb2.Column, _Mapping]] = ...) -> None: ...

class Spans(_message.Message):
    __slots__ = ("kind", "start_ns", "end_ns", "open")
    KIND_FIELD_NUMBER: _ClassVar[int]
    START_NS_FIELD_NUMBER: _ClassVar[int]
    END_NS_FIELD_NUMBER: _ClassVar[int]
    OPEN_FIELD_NUMBER: _ClassVar[int]
    kind: _common_pb2.Column
    start_ns: _common_pb2.Column
    end_ns: _common_pb2.Column
    open: _common_pb2.Column
    def __init__(self, kind: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., start_ns: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., end_ns: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., open: _Optional[_Union[_common_pb2.Column, _Mapping]] = ...) -> None: ...

class Throughput(_message.Message):
    __slots__ = ("header", "name", "unit", "base_ns", "start_ns", "first_sample_ns", "smoothing", "sampling_rule", "log_every", "batch_size", "devices", "flops_per_sample", "peak_flops_per_sec", "planned_steps", "measured_at", "session", "block", "total_before", "strings", "marks", "samples", "reported", "resets", "spans", "tail_after")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    UNIT_FIELD_NUMBER: _ClassVar[int]
    BASE_NS_FIELD_NUMBER: _ClassVar[int]
    START_NS_FIELD_NUMBER: _ClassVar[int]
    FIRST_SAMPLE_NS_FIELD_NUMBER: _ClassVar[int]
    SMOOTHING_FIELD_NUMBER: _ClassVar[int]
    SAMPLING_RULE_FIELD_NUMBER: _ClassVar[int]
    LOG_EVERY_FIELD_NUMBER: _ClassVar[int]
    BATCH_SIZE_FIELD_NUMBER: _ClassVar[int]
    DEVICES_FIELD_NUMBER: _ClassVar[int]
    FLOPS_PER_SAMPLE_FIELD_NUMBER: _ClassVar[int]
    PEAK_FLOPS_PER_SEC_FIELD_NUMBER: _ClassVar[int]
    PLANNED_STEPS_FIELD_NUMBER: _ClassVar[int]
    MEASURED_AT_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    BLOCK_FIELD_NUMBER: _ClassVar[int]
    TOTAL_BEFORE_FIELD_NUMBER: _ClassVar[int]
    STRINGS_FIELD_NUMBER: _ClassVar[int]
    MARKS_FIELD_NUMBER: _ClassVar[int]
    SAMPLES_FIELD_NUMBER: _ClassVar[int]
    REPORTED_FIELD_NUMBER: _ClassVar[int]
    RESETS_FIELD_NUMBER: _ClassVar[int]
    SPANS_FIELD_NUMBER: _ClassVar[int]
    TAIL_AFTER_FIELD_NUMBER: _ClassVar[int]
    header: _common_pb2.Header
    name: str
    unit: str
    base_ns: int
    start_ns: int
    first_sample_ns: int
    smoothing: float
    sampling_rule: str
    log_every: int
    batch_size: int
    devices: int
    flops_per_sample: float
    peak_flops_per_sec: float
    planned_steps: int
    measured_at: str
    session: str
    block: int
    total_before: int
    strings: _common_pb2.StringTable
    marks: Marks
    samples: Samples
    reported: Reported
    resets: Resets
    spans: Spans
    tail_after: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, header: _Optional[_Union[_common_pb2.Header, _Mapping]] = ..., name: _Optional[str] = ..., unit: _Optional[str] = ..., base_ns: _Optional[int] = ..., start_ns: _Optional[int] = ..., first_sample_ns: _Optional[int] = ..., smoothing: _Optional[float] = ..., sampling_rule: _Optional[str] = ..., log_every: _Optional[int] = ..., batch_size: _Optional[int] = ..., devices: _Optional[int] = ..., flops_per_sample: _Optional[float] = ..., peak_flops_per_sec: _Optional[float] = ..., planned_steps: _Optional[int] = ..., measured_at: _Optional[str] = ..., session: _Optional[str] = ..., block: _Optional[int] = ..., total_before: _Optional[int] = ..., strings: _Optional[_Union[_common_pb2.StringTable, _Mapping]] = ..., marks: _Optional[_Union[Marks, _Mapping]] = ..., samples: _Optional[_Union[Samples, _Mapping]] = ..., reported: _Optional[_Union[Reported, _Mapping]] = ..., resets: _Optional[_Union[Resets, _Mapping]] = ..., spans: _Optional[_Union[Spans, _Mapping]] = ..., tail_after: _Optional[_Iterable[int]] = ...) -> None: ...
