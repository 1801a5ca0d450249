from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Codec(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RAW: _ClassVar[Codec]
    ZLIB: _ClassVar[Codec]
RAW: Codec
ZLIB: Codec

class Envelope(_message.Message):
    __slots__ = ("codec", "raw_size_bytes", "crc32c", "body")
    CODEC_FIELD_NUMBER: _ClassVar[int]
    RAW_SIZE_BYTES_FIELD_NUMBER: _ClassVar[int]
    CRC32C_FIELD_NUMBER: _ClassVar[int]
    BODY_FIELD_NUMBER: _ClassVar[int]
    codec: Codec
    raw_size_bytes: int
    crc32c: int
    body: bytes
    def __init__(self, codec: _Optional[_Union[Codec, str]] = ..., raw_size_bytes: _Optional[int] = ..., crc32c: _Optional[int] = ..., body: _Optional[bytes] = ...) -> None: ...

class ElementEntry(_message.Message):
    __slots__ = ("fields", "part", "position", "raw_size_bytes")
    FIELDS_FIELD_NUMBER: _ClassVar[int]
    PART_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    RAW_SIZE_BYTES_FIELD_NUMBER: _ClassVar[int]
    fields: _containers.RepeatedScalarFieldContainer[str]
    part: int
    position: int
    raw_size_bytes: int
    def __init__(self, fields: _Optional[_Iterable[str]] = ..., part: _Optional[int] = ..., position: _Optional[int] = ..., raw_size_bytes: _Optional[int] = ...) -> None: ...

class ElementTable(_message.Message):
    __slots__ = ("elements",)
    ELEMENTS_FIELD_NUMBER: _ClassVar[int]
    elements: _containers.RepeatedCompositeFieldContainer[ElementEntry]
    def __init__(self, elements: _Optional[_Iterable[_Union[ElementEntry, _Mapping]]] = ...) -> None: ...

class RecordIndex(_message.Message):
    __slots__ = ("kind", "name", "schema", "has_step", "first_step", "last_step", "rows", "version", "closed", "session", "block", "written_wall_ns", "producer", "parts", "size_bytes")
    KIND_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    SCHEMA_FIELD_NUMBER: _ClassVar[int]
    HAS_STEP_FIELD_NUMBER: _ClassVar[int]
    FIRST_STEP_FIELD_NUMBER: _ClassVar[int]
    LAST_STEP_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    CLOSED_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    BLOCK_FIELD_NUMBER: _ClassVar[int]
    WRITTEN_WALL_NS_FIELD_NUMBER: _ClassVar[int]
    PRODUCER_FIELD_NUMBER: _ClassVar[int]
    PARTS_FIELD_NUMBER: _ClassVar[int]
    SIZE_BYTES_FIELD_NUMBER: _ClassVar[int]
    kind: str
    name: str
    schema: int
    has_step: bool
    first_step: int
    last_step: int
    rows: int
    version: int
    closed: bool
    session: str
    block: int
    written_wall_ns: int
    producer: str
    parts: int
    size_bytes: int
    def __init__(self, kind: _Optional[str] = ..., name: _Optional[str] = ..., schema: _Optional[int] = ..., has_step: bool = ..., first_step: _Optional[int] = ..., last_step: _Optional[int] = ..., rows: _Optional[int] = ..., version: _Optional[int] = ..., closed: bool = ..., session: _Optional[str] = ..., block: _Optional[int] = ..., written_wall_ns: _Optional[int] = ..., producer: _Optional[str] = ..., parts: _Optional[int] = ..., size_bytes: _Optional[int] = ...) -> None: ...

class TagContent(_message.Message):
    __slots__ = ("kind", "name", "schema", "producer")
    KIND_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    SCHEMA_FIELD_NUMBER: _ClassVar[int]
    PRODUCER_FIELD_NUMBER: _ClassVar[int]
    kind: str
    name: str
    schema: int
    producer: str
    def __init__(self, kind: _Optional[str] = ..., name: _Optional[str] = ..., schema: _Optional[int] = ..., producer: _Optional[str] = ...) -> None: ...

class EventView(_message.Message):
    __slots__ = ("wall_time", "step", "summary")
    WALL_TIME_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    wall_time: float
    step: int
    summary: SummaryView
    def __init__(self, wall_time: _Optional[float] = ..., step: _Optional[int] = ..., summary: _Optional[_Union[SummaryView, _Mapping]] = ...) -> None: ...

class SummaryView(_message.Message):
    __slots__ = ("value",)
    VALUE_FIELD_NUMBER: _ClassVar[int]
    value: _containers.RepeatedCompositeFieldContainer[ValueView]
    def __init__(self, value: _Optional[_Iterable[_Union[ValueView, _Mapping]]] = ...) -> None: ...

class ValueView(_message.Message):
    __slots__ = ("tag", "simple_value", "tensor", "metadata")
    TAG_FIELD_NUMBER: _ClassVar[int]
    SIMPLE_VALUE_FIELD_NUMBER: _ClassVar[int]
    TENSOR_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    tag: bytes
    simple_value: float
    tensor: TensorView
    metadata: bytes
    def __init__(self, tag: _Optional[bytes] = ..., simple_value: _Optional[float] = ..., tensor: _Optional[_Union[TensorView, _Mapping]] = ..., metadata: _Optional[bytes] = ...) -> None: ...

class TensorView(_message.Message):
    __slots__ = ("string_val",)
    STRING_VAL_FIELD_NUMBER: _ClassVar[int]
    string_val: _containers.RepeatedScalarFieldContainer[bytes]
    def __init__(self, string_val: _Optional[_Iterable[bytes]] = ...) -> None: ...

class MetadataView(_message.Message):
    __slots__ = ("plugin_data",)
    PLUGIN_DATA_FIELD_NUMBER: _ClassVar[int]
    plugin_data: PluginView
    def __init__(self, plugin_data: _Optional[_Union[PluginView, _Mapping]] = ...) -> None: ...

class PluginView(_message.Message):
    __slots__ = ("plugin_name",)
    PLUGIN_NAME_FIELD_NUMBER: _ClassVar[int]
    plugin_name: bytes
    def __init__(self, plugin_name: _Optional[bytes] = ...) -> None: ...
