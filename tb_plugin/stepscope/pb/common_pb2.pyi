from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class DType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DTYPE_UNSPECIFIED: _ClassVar[DType]
    INT8: _ClassVar[DType]
    INT16: _ClassVar[DType]
    INT32: _ClassVar[DType]
    INT64: _ClassVar[DType]
    UINT8: _ClassVar[DType]
    UINT16: _ClassVar[DType]
    UINT32: _ClassVar[DType]
    UINT64: _ClassVar[DType]
    FLOAT32: _ClassVar[DType]
    FLOAT64: _ClassVar[DType]
    BOOL: _ClassVar[DType]

class Encoding(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PLAIN: _ClassVar[Encoding]
    DELTAS: _ClassVar[Encoding]
DTYPE_UNSPECIFIED: DType
INT8: DType
INT16: DType
INT32: DType
INT64: DType
UINT8: DType
UINT16: DType
UINT32: DType
UINT64: DType
FLOAT32: DType
FLOAT64: DType
BOOL: DType
PLAIN: Encoding
DELTAS: Encoding

class Column(_message.Message):
    __slots__ = ("dtype", "length", "data", "encoding")
    DTYPE_FIELD_NUMBER: _ClassVar[int]
    LENGTH_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    ENCODING_FIELD_NUMBER: _ClassVar[int]
    dtype: DType
    length: int
    data: _containers.RepeatedScalarFieldContainer[bytes]
    encoding: Encoding
    def __init__(self, dtype: _Optional[_Union[DType, str]] = ..., length: _Optional[int] = ..., data: _Optional[_Iterable[bytes]] = ..., encoding: _Optional[_Union[Encoding, str]] = ...) -> None: ...

class StringTable(_message.Message):
    __slots__ = ("blob", "end")
    BLOB_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    blob: Column
    end: Column
    def __init__(self, blob: _Optional[_Union[Column, _Mapping]] = ..., end: _Optional[_Union[Column, _Mapping]] = ...) -> None: ...

class Loss(_message.Message):
    __slots__ = ("where", "what", "count", "remedy")
    WHERE_FIELD_NUMBER: _ClassVar[int]
    WHAT_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    REMEDY_FIELD_NUMBER: _ClassVar[int]
    where: str
    what: str
    count: int
    remedy: str
    def __init__(self, where: _Optional[str] = ..., what: _Optional[str] = ..., count: _Optional[int] = ..., remedy: _Optional[str] = ...) -> None: ...

class Header(_message.Message):
    __slots__ = ("job", "run", "host", "rank", "world_size", "producer", "producer_version", "wall_anchor_ns", "losses", "source")
    JOB_FIELD_NUMBER: _ClassVar[int]
    RUN_FIELD_NUMBER: _ClassVar[int]
    HOST_FIELD_NUMBER: _ClassVar[int]
    RANK_FIELD_NUMBER: _ClassVar[int]
    WORLD_SIZE_FIELD_NUMBER: _ClassVar[int]
    PRODUCER_FIELD_NUMBER: _ClassVar[int]
    PRODUCER_VERSION_FIELD_NUMBER: _ClassVar[int]
    WALL_ANCHOR_NS_FIELD_NUMBER: _ClassVar[int]
    LOSSES_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    job: str
    run: str
    host: str
    rank: int
    world_size: int
    producer: str
    producer_version: str
    wall_anchor_ns: int
    losses: _containers.RepeatedCompositeFieldContainer[Loss]
    source: str
    def __init__(self, job: _Optional[str] = ..., run: _Optional[str] = ..., host: _Optional[str] = ..., rank: _Optional[int] = ..., world_size: _Optional[int] = ..., producer: _Optional[str] = ..., producer_version: _Optional[str] = ..., wall_anchor_ns: _Optional[int] = ..., losses: _Optional[_Iterable[_Union[Loss, _Mapping]]] = ..., source: _Optional[str] = ...) -> None: ...
