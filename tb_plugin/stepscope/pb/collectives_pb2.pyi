from stepscope.pb import common_pb2 as _common_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class CollectiveHosts(_message.Message):
    __slots__ = ("name", "source", "base_ns")
    NAME_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    BASE_NS_FIELD_NUMBER: _ClassVar[int]
    name: _common_pb2.Column
    source: _common_pb2.Column
    base_ns: _common_pb2.Column
    def __init__(self, name: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., source: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., base_ns: _Optional[_Union[_common_pb2.Column, _Mapping]] = ...) -> None: ...

class CollectiveCores(_message.Message):
    __slots__ = ("host", "id", "name", "device_type", "base_ns", "window_start_ps", "window_end_ps")
    HOST_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    DEVICE_TYPE_FIELD_NUMBER: _ClassVar[int]
    BASE_NS_FIELD_NUMBER: _ClassVar[int]
    WINDOW_START_PS_FIELD_NUMBER: _ClassVar[int]
    WINDOW_END_PS_FIELD_NUMBER: _ClassVar[int]
    host: _common_pb2.Column
    id: _common_pb2.Column
    name: _common_pb2.Column
    device_type: _common_pb2.Column
    base_ns: _common_pb2.Column
    window_start_ps: _common_pb2.Column
    window_end_ps: _common_pb2.Column
    def __init__(self, host: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., id: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., name: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., device_type: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., base_ns: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., window_start_ps: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., window_end_ps: _Optional[_Union[_common_pb2.Column, _Mapping]] = ...) -> None: ...

class ModuleExecutions(_message.Message):
    __slots__ = ("core", "program", "run_id", "start_ps", "duration_ps")
    CORE_FIELD_NUMBER: _ClassVar[int]
    PROGRAM_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    START_PS_FIELD_NUMBER: _ClassVar[int]
    DURATION_PS_FIELD_NUMBER: _ClassVar[int]
    core: _common_pb2.Column
    program: _common_pb2.Column
    run_id: _common_pb2.Column
    start_ps: _common_pb2.Column
    duration_ps: _common_pb2.Column
    def __init__(self, core: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., program: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., run_id: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., start_ps: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., duration_ps: _Optional[_Union[_common_pb2.Column, _Mapping]] = ...) -> None: ...

class CollectiveInstructions(_message.Message):
    __slots__ = ("program", "name", "kind", "identity", "rendezvous", "transfer_type", "payload_bytes", "group_size", "scheduled")
    PROGRAM_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    IDENTITY_FIELD_NUMBER: _ClassVar[int]
    RENDEZVOUS_FIELD_NUMBER: _ClassVar[int]
    TRANSFER_TYPE_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_BYTES_FIELD_NUMBER: _ClassVar[int]
    GROUP_SIZE_FIELD_NUMBER: _ClassVar[int]
    SCHEDULED_FIELD_NUMBER: _ClassVar[int]
    program: _common_pb2.Column
    name: _common_pb2.Column
    kind: _common_pb2.Column
    identity: _common_pb2.Column
    rendezvous: _common_pb2.Column
    transfer_type: _common_pb2.Column
    payload_bytes: _common_pb2.Column
    group_size: _common_pb2.Column
    scheduled: _common_pb2.Column
    def __init__(self, program: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., name: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., kind: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., identity: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., rendezvous: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., transfer_type: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., payload_bytes: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., group_size: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., scheduled: _Optional[_Union[_common_pb2.Column, _Mapping]] = ...) -> None: ...

class CollectiveOps(_message.Message):
    __slots__ = ("core", "instruction", "execution", "start_ps", "duration_ps")
    CORE_FIELD_NUMBER: _ClassVar[int]
    INSTRUCTION_FIELD_NUMBER: _ClassVar[int]
    EXECUTION_FIELD_NUMBER: _ClassVar[int]
    START_PS_FIELD_NUMBER: _ClassVar[int]
    DURATION_PS_FIELD_NUMBER: _ClassVar[int]
    core: _common_pb2.Column
    instruction: _common_pb2.Column
    execution: _common_pb2.Column
    start_ps: _common_pb2.Column
    duration_ps: _common_pb2.Column
    def __init__(self, core: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., instruction: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., execution: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., start_ps: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., duration_ps: _Optional[_Union[_common_pb2.Column, _Mapping]] = ...) -> None: ...

class ScheduledInstructions(_message.Message):
    __slots__ = ("program", "computation", "name", "opcode", "op_name", "run_count", "total_ps", "operand_end")
    PROGRAM_FIELD_NUMBER: _ClassVar[int]
    COMPUTATION_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    OPCODE_FIELD_NUMBER: _ClassVar[int]
    OP_NAME_FIELD_NUMBER: _ClassVar[int]
    RUN_COUNT_FIELD_NUMBER: _ClassVar[int]
    TOTAL_PS_FIELD_NUMBER: _ClassVar[int]
    OPERAND_END_FIELD_NUMBER: _ClassVar[int]
    program: _common_pb2.Column
    computation: _common_pb2.Column
    name: _common_pb2.Column
    opcode: _common_pb2.Column
    op_name: _common_pb2.Column
    run_count: _common_pb2.Column
    total_ps: _common_pb2.Column
    operand_end: _common_pb2.Column
    def __init__(self, program: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., computation: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., name: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., opcode: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., op_name: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., run_count: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., total_ps: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., operand_end: _Optional[_Union[_common_pb2.Column, _Mapping]] = ...) -> None: ...

class ScheduledOperands(_message.Message):
    __slots__ = ("source",)
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    source: _common_pb2.Column
    def __init__(self, source: _Optional[_Union[_common_pb2.Column, _Mapping]] = ...) -> None: ...

class HostTransfers(_message.Message):
    __slots__ = ("host", "name", "label", "start_ps", "duration_ps", "payload_bytes", "latency_ps", "source_slice", "source_device", "destination_slice", "destination_device")
    HOST_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    LABEL_FIELD_NUMBER: _ClassVar[int]
    START_PS_FIELD_NUMBER: _ClassVar[int]
    DURATION_PS_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_BYTES_FIELD_NUMBER: _ClassVar[int]
    LATENCY_PS_FIELD_NUMBER: _ClassVar[int]
    SOURCE_SLICE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_DEVICE_FIELD_NUMBER: _ClassVar[int]
    DESTINATION_SLICE_FIELD_NUMBER: _ClassVar[int]
    DESTINATION_DEVICE_FIELD_NUMBER: _ClassVar[int]
    host: _common_pb2.Column
    name: _common_pb2.Column
    label: _common_pb2.Column
    start_ps: _common_pb2.Column
    duration_ps: _common_pb2.Column
    payload_bytes: _common_pb2.Column
    latency_ps: _common_pb2.Column
    source_slice: _common_pb2.Column
    source_device: _common_pb2.Column
    destination_slice: _common_pb2.Column
    destination_device: _common_pb2.Column
    def __init__(self, host: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., name: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., label: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., start_ps: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., duration_ps: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., payload_bytes: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., latency_ps: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., source_slice: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., source_device: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., destination_slice: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., destination_device: _Optional[_Union[_common_pb2.Column, _Mapping]] = ...) -> None: ...

class Collectives(_message.Message):
    __slots__ = ("header", "strings", "hosts", "cores", "executions", "instructions", "ops", "schedule", "operands", "transfers")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    STRINGS_FIELD_NUMBER: _ClassVar[int]
    HOSTS_FIELD_NUMBER: _ClassVar[int]
    CORES_FIELD_NUMBER: _ClassVar[int]
    EXECUTIONS_FIELD_NUMBER: _ClassVar[int]
    INSTRUCTIONS_FIELD_NUMBER: _ClassVar[int]
    OPS_FIELD_NUMBER: _ClassVar[int]
    SCHEDULE_FIELD_NUMBER: _ClassVar[int]
    OPERANDS_FIELD_NUMBER: _ClassVar[int]
    TRANSFERS_FIELD_NUMBER: _ClassVar[int]
    header: _common_pb2.Header
    strings: _common_pb2.StringTable
    hosts: CollectiveHosts
    cores: CollectiveCores
    executions: ModuleExecutions
    instructions: CollectiveInstructions
    ops: CollectiveOps
    schedule: ScheduledInstructions
    operands: ScheduledOperands
    transfers: HostTransfers
    def __init__(self, header: _Optional[_Union[_common_pb2.Header, _Mapping]] = ..., strings: _Optional[_Union[_common_pb2.StringTable, _Mapping]] = ..., hosts: _Optional[_Union[CollectiveHosts, _Mapping]] = ..., cores: _Optional[_Union[CollectiveCores, _Mapping]] = ..., executions: _Optional[_Union[ModuleExecutions, _Mapping]] = ..., instructions: _Optional[_Union[CollectiveInstructions, _Mapping]] = ..., ops: _Optional[_Union[CollectiveOps, _Mapping]] = ..., schedule: _Optional[_Union[ScheduledInstructions, _Mapping]] = ..., operands: _Optional[_Union[ScheduledOperands, _Mapping]] = ..., transfers: _Optional[_Union[HostTransfers, _Mapping]] = ...) -> None: ...
