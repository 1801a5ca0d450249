from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Plane(_message.Message):
    __slots__ = ("id", "name", "lines", "event_metadata", "stat_metadata", "stats")
    class EventMetadataEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: int
        value: EventMetadata
        def __init__(self, key: _Optional[int] = ..., value: _Optional[_Union[EventMetadata, _Mapping]] = ...) -> None: ...
    class StatMetadataEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: int
        value: StatMetadata
        def __init__(self, key: _Optional[int] = ..., value: _Optional[_Union[StatMetadata, _Mapping]] = ...) -> None: ...
    ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    LINES_FIELD_NUMBER: _ClassVar[int]
    EVENT_METADATA_FIELD_NUMBER: _ClassVar[int]
    STAT_METADATA_FIELD_NUMBER: _ClassVar[int]
    STATS_FIELD_NUMBER: _ClassVar[int]
    id: int
    name: bytes
    lines: _containers.RepeatedScalarFieldContainer[bytes]
    event_metadata: _containers.MessageMap[int, EventMetadata]
    stat_metadata: _containers.MessageMap[int, StatMetadata]
    stats: _containers.RepeatedCompositeFieldContainer[Stat]
    def __init__(self, id: _Optional[int] = ..., name: _Optional[bytes] = ..., lines: _Optional[_Iterable[bytes]] = ..., event_metadata: _Optional[_Mapping[int, EventMetadata]] = ..., stat_metadata: _Optional[_Mapping[int, StatMetadata]] = ..., stats: _Optional[_Iterable[_Union[Stat, _Mapping]]] = ...) -> None: ...

class Line(_message.Message):
    __slots__ = ("id", "name", "timestamp_ns", "events", "display_name")
    ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    TIMESTAMP_NS_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    DISPLAY_NAME_FIELD_NUMBER: _ClassVar[int]
    id: int
    name: bytes
    timestamp_ns: int
    events: _containers.RepeatedScalarFieldContainer[bytes]
    display_name: bytes
    def __init__(self, id: _Optional[int] = ..., name: _Optional[bytes] = ..., timestamp_ns: _Optional[int] = ..., events: _Optional[_Iterable[bytes]] = ..., display_name: _Optional[bytes] = ...) -> None: ...

class Stat(_message.Message):
    __slots__ = ("metadata_id", "double_value", "uint64_value", "int64_value", "str_value", "bytes_value", "ref_value")
    METADATA_ID_FIELD_NUMBER: _ClassVar[int]
    DOUBLE_VALUE_FIELD_NUMBER: _ClassVar[int]
    UINT64_VALUE_FIELD_NUMBER: _ClassVar[int]
    INT64_VALUE_FIELD_NUMBER: _ClassVar[int]
    STR_VALUE_FIELD_NUMBER: _ClassVar[int]
    BYTES_VALUE_FIELD_NUMBER: _ClassVar[int]
    REF_VALUE_FIELD_NUMBER: _ClassVar[int]
    metadata_id: int
    double_value: float
    uint64_value: int
    int64_value: int
    str_value: bytes
    bytes_value: bytes
    ref_value: int
    def __init__(self, metadata_id: _Optional[int] = ..., double_value: _Optional[float] = ..., uint64_value: _Optional[int] = ..., int64_value: _Optional[int] = ..., str_value: _Optional[bytes] = ..., bytes_value: _Optional[bytes] = ..., ref_value: _Optional[int] = ...) -> None: ...

class EventMetadata(_message.Message):
    __slots__ = ("id", "name", "display_name", "stats")
    ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    DISPLAY_NAME_FIELD_NUMBER: _ClassVar[int]
    STATS_FIELD_NUMBER: _ClassVar[int]
    id: int
    name: bytes
    display_name: bytes
    stats: _containers.RepeatedCompositeFieldContainer[Stat]
    def __init__(self, id: _Optional[int] = ..., name: _Optional[bytes] = ..., display_name: _Optional[bytes] = ..., stats: _Optional[_Iterable[_Union[Stat, _Mapping]]] = ...) -> None: ...

class StatMetadata(_message.Message):
    __slots__ = ("id", "name")
    ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    id: int
    name: bytes
    def __init__(self, id: _Optional[int] = ..., name: _Optional[bytes] = ...) -> None: ...

class DcnCollectiveInfo(_message.Message):
    __slots__ = ("endpoint_groups", "one_to_one_groups")
    class Endpoint(_message.Message):
        __slots__ = ("slice_id", "device_id")
        SLICE_ID_FIELD_NUMBER: _ClassVar[int]
        DEVICE_ID_FIELD_NUMBER: _ClassVar[int]
        slice_id: int
        device_id: int
        def __init__(self, slice_id: _Optional[int] = ..., device_id: _Optional[int] = ...) -> None: ...
    class EndpointGroup(_message.Message):
        __slots__ = ("endpoints",)
        ENDPOINTS_FIELD_NUMBER: _ClassVar[int]
        endpoints: _containers.RepeatedCompositeFieldContainer[DcnCollectiveInfo.Endpoint]
        def __init__(self, endpoints: _Optional[_Iterable[_Union[DcnCollectiveInfo.Endpoint, _Mapping]]] = ...) -> None: ...
    ENDPOINT_GROUPS_FIELD_NUMBER: _ClassVar[int]
    ONE_TO_ONE_GROUPS_FIELD_NUMBER: _ClassVar[int]
    endpoint_groups: _containers.RepeatedCompositeFieldContainer[DcnCollectiveInfo.EndpointGroup]
    one_to_one_groups: _containers.RepeatedScalarFieldContainer[bytes]
    def __init__(self, endpoint_groups: _Optional[_Iterable[_Union[DcnCollectiveInfo.EndpointGroup, _Mapping]]] = ..., one_to_one_groups: _Optional[_Iterable[bytes]] = ...) -> None: ...
