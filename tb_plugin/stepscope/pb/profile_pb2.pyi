from stepscope.pb import common_pb2 as _common_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Nodes(_message.Message):
    __slots__ = ("name", "scope", "kind", "device", "trace", "caller", "parameters", "float_ops", "input_shape", "op_type_end", "input_end", "output_end", "shape", "op")
    NAME_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    DEVICE_FIELD_NUMBER: _ClassVar[int]
    TRACE_FIELD_NUMBER: _ClassVar[int]
    CALLER_FIELD_NUMBER: _ClassVar[int]
    PARAMETERS_FIELD_NUMBER: _ClassVar[int]
    FLOAT_OPS_FIELD_NUMBER: _ClassVar[int]
    INPUT_SHAPE_FIELD_NUMBER: _ClassVar[int]
    OP_TYPE_END_FIELD_NUMBER: _ClassVar[int]
    INPUT_END_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_END_FIELD_NUMBER: _ClassVar[int]
    SHAPE_FIELD_NUMBER: _ClassVar[int]
    OP_FIELD_NUMBER: _ClassVar[int]
    name: _common_pb2.Column
    scope: _common_pb2.Column
    kind: _common_pb2.Column
    device: _common_pb2.Column
    trace: _common_pb2.Column
    caller: _common_pb2.Column
    parameters: _common_pb2.Column
    float_ops: _common_pb2.Column
    input_shape: _common_pb2.Column
    op_type_end: _common_pb2.Column
    input_end: _common_pb2.Column
    output_end: _common_pb2.Column
    shape: _common_pb2.Column
    op: _common_pb2.Column
    def __init__(self, name: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., scope: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., kind: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., device: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., trace: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., caller: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., parameters: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., float_ops: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., input_shape: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., op_type_end: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., input_end: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., output_end: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., shape: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., op: _Optional[_Union[_common_pb2.Column, _Mapping]] = ...) -> None: ...

class OpTypes(_message.Message):
    __slots__ = ("type",)
    TYPE_FIELD_NUMBER: _ClassVar[int]
    type: _common_pb2.Column
    def __init__(self, type: _Optional[_Union[_common_pb2.Column, _Mapping]] = ...) -> None: ...

class Inputs(_message.Message):
    __slots__ = ("source", "slot", "kind")
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    SLOT_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    source: _common_pb2.Column
    slot: _common_pb2.Column
    kind: _common_pb2.Column
    def __init__(self, source: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., slot: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., kind: _Optional[_Union[_common_pb2.Column, _Mapping]] = ...) -> None: ...

class Outputs(_message.Message):
    __slots__ = ("shape", "bytes")
    SHAPE_FIELD_NUMBER: _ClassVar[int]
    BYTES_FIELD_NUMBER: _ClassVar[int]
    shape: _common_pb2.Column
    bytes: _common_pb2.Column
    def __init__(self, shape: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., bytes: _Optional[_Union[_common_pb2.Column, _Mapping]] = ...) -> None: ...

class Shapes(_message.Message):
    __slots__ = ("rank", "dim_end")
    RANK_FIELD_NUMBER: _ClassVar[int]
    DIM_END_FIELD_NUMBER: _ClassVar[int]
    rank: _common_pb2.Column
    dim_end: _common_pb2.Column
    def __init__(self, rank: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., dim_end: _Optional[_Union[_common_pb2.Column, _Mapping]] = ...) -> None: ...

class Dims(_message.Message):
    __slots__ = ("size",)
    SIZE_FIELD_NUMBER: _ClassVar[int]
    size: _common_pb2.Column
    def __init__(self, size: _Optional[_Union[_common_pb2.Column, _Mapping]] = ...) -> None: ...

class Scopes(_message.Message):
    __slots__ = ("parent", "name", "kind")
    PARENT_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    parent: _common_pb2.Column
    name: _common_pb2.Column
    kind: _common_pb2.Column
    def __init__(self, parent: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., name: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., kind: _Optional[_Union[_common_pb2.Column, _Mapping]] = ...) -> None: ...

class Frames(_message.Message):
    __slots__ = ("file", "line", "function", "first_line")
    FILE_FIELD_NUMBER: _ClassVar[int]
    LINE_FIELD_NUMBER: _ClassVar[int]
    FUNCTION_FIELD_NUMBER: _ClassVar[int]
    FIRST_LINE_FIELD_NUMBER: _ClassVar[int]
    file: _common_pb2.Column
    line: _common_pb2.Column
    function: _common_pb2.Column
    first_line: _common_pb2.Column
    def __init__(self, file: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., line: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., function: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., first_line: _Optional[_Union[_common_pb2.Column, _Mapping]] = ...) -> None: ...

class Traces(_message.Message):
    __slots__ = ("parent", "frame")
    PARENT_FIELD_NUMBER: _ClassVar[int]
    FRAME_FIELD_NUMBER: _ClassVar[int]
    parent: _common_pb2.Column
    frame: _common_pb2.Column
    def __init__(self, parent: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., frame: _Optional[_Union[_common_pb2.Column, _Mapping]] = ...) -> None: ...

class Devices(_message.Message):
    __slots__ = ("name", "model", "memory_bytes", "compute_major", "compute_minor", "multiprocessors", "multiprocessor_threads")
    NAME_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    MEMORY_BYTES_FIELD_NUMBER: _ClassVar[int]
    COMPUTE_MAJOR_FIELD_NUMBER: _ClassVar[int]
    COMPUTE_MINOR_FIELD_NUMBER: _ClassVar[int]
    MULTIPROCESSORS_FIELD_NUMBER: _ClassVar[int]
    MULTIPROCESSOR_THREADS_FIELD_NUMBER: _ClassVar[int]
    name: _common_pb2.Column
    model: _common_pb2.Column
    memory_bytes: _common_pb2.Column
    compute_major: _common_pb2.Column
    compute_minor: _common_pb2.Column
    multiprocessors: _common_pb2.Column
    multiprocessor_threads: _common_pb2.Column
    def __init__(self, name: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., model: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., memory_bytes: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., compute_major: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., compute_minor: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., multiprocessors: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., multiprocessor_threads: _Optional[_Union[_common_pb2.Column, _Mapping]] = ...) -> None: ...

class Lanes(_message.Message):
    __slots__ = ("device", "name", "kind")
    DEVICE_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    device: _common_pb2.Column
    name: _common_pb2.Column
    kind: _common_pb2.Column
    def __init__(self, device: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., name: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., kind: _Optional[_Union[_common_pb2.Column, _Mapping]] = ...) -> None: ...

class Steps(_message.Message):
    __slots__ = ("id", "name", "start_ticks", "duration_ticks")
    ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    START_TICKS_FIELD_NUMBER: _ClassVar[int]
    DURATION_TICKS_FIELD_NUMBER: _ClassVar[int]
    id: _common_pb2.Column
    name: _common_pb2.Column
    start_ticks: _common_pb2.Column
    duration_ticks: _common_pb2.Column
    def __init__(self, id: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., name: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., start_ticks: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., duration_ticks: _Optional[_Union[_common_pb2.Column, _Mapping]] = ...) -> None: ...

class NodeSteps(_message.Message):
    __slots__ = ("node", "step", "run_count", "host_ticks", "host_total_ticks", "accelerator_ticks", "start_ticks", "end_ticks", "requested_bytes", "peak_bytes", "residual_bytes", "output_bytes", "bytes_in_use", "uncounted_host_ticks", "uncounted_accelerator_ticks", "shared_host_ticks", "enclosed_host_ticks")
    NODE_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    RUN_COUNT_FIELD_NUMBER: _ClassVar[int]
    HOST_TICKS_FIELD_NUMBER: _ClassVar[int]
    HOST_TOTAL_TICKS_FIELD_NUMBER: _ClassVar[int]
    ACCELERATOR_TICKS_FIELD_NUMBER: _ClassVar[int]
    START_TICKS_FIELD_NUMBER: _ClassVar[int]
    END_TICKS_FIELD_NUMBER: _ClassVar[int]
    REQUESTED_BYTES_FIELD_NUMBER: _ClassVar[int]
    PEAK_BYTES_FIELD_NUMBER: _ClassVar[int]
    RESIDUAL_BYTES_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_BYTES_FIELD_NUMBER: _ClassVar[int]
    BYTES_IN_USE_FIELD_NUMBER: _ClassVar[int]
    UNCOUNTED_HOST_TICKS_FIELD_NUMBER: _ClassVar[int]
    UNCOUNTED_ACCELERATOR_TICKS_FIELD_NUMBER: _ClassVar[int]
    SHARED_HOST_TICKS_FIELD_NUMBER: _ClassVar[int]
    ENCLOSED_HOST_TICKS_FIELD_NUMBER: _ClassVar[int]
    node: _common_pb2.Column
    step: _common_pb2.Column
    run_count: _common_pb2.Column
    host_ticks: _common_pb2.Column
    host_total_ticks: _common_pb2.Column
    accelerator_ticks: _common_pb2.Column
    start_ticks: _common_pb2.Column
    end_ticks: _common_pb2.Column
    requested_bytes: _common_pb2.Column
    peak_bytes: _common_pb2.Column
    residual_bytes: _common_pb2.Column
    output_bytes: _common_pb2.Column
    bytes_in_use: _common_pb2.Column
    uncounted_host_ticks: _common_pb2.Column
    uncounted_accelerator_ticks: _common_pb2.Column
    shared_host_ticks: _common_pb2.Column
    enclosed_host_ticks: _common_pb2.Column
    def __init__(self, node: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., step: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., run_count: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., host_ticks: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., host_total_ticks: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., accelerator_ticks: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., start_ticks: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., end_ticks: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., requested_bytes: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., peak_bytes: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., residual_bytes: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., output_bytes: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., bytes_in_use: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., uncounted_host_ticks: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., uncounted_accelerator_ticks: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., shared_host_ticks: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., enclosed_host_ticks: _Optional[_Union[_common_pb2.Column, _Mapping]] = ...) -> None: ...

class Executions(_message.Message):
    __slots__ = ("node", "step", "lane", "start_ticks", "duration_ticks", "self_ticks", "count", "launch", "forward")
    NODE_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    LANE_FIELD_NUMBER: _ClassVar[int]
    START_TICKS_FIELD_NUMBER: _ClassVar[int]
    DURATION_TICKS_FIELD_NUMBER: _ClassVar[int]
    SELF_TICKS_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    LAUNCH_FIELD_NUMBER: _ClassVar[int]
    FORWARD_FIELD_NUMBER: _ClassVar[int]
    node: _common_pb2.Column
    step: _common_pb2.Column
    lane: _common_pb2.Column
    start_ticks: _common_pb2.Column
    duration_ticks: _common_pb2.Column
    self_ticks: _common_pb2.Column
    count: _common_pb2.Column
    launch: _common_pb2.Column
    forward: _common_pb2.Column
    def __init__(self, node: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., step: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., lane: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., start_ticks: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., duration_ticks: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., self_ticks: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., count: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., launch: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., forward: _Optional[_Union[_common_pb2.Column, _Mapping]] = ...) -> None: ...

class Allocations(_message.Message):
    __slots__ = ("node", "device", "allocator", "time_ticks", "delta_bytes", "total_bytes", "reserved_bytes", "address", "step")
    NODE_FIELD_NUMBER: _ClassVar[int]
    DEVICE_FIELD_NUMBER: _ClassVar[int]
    ALLOCATOR_FIELD_NUMBER: _ClassVar[int]
    TIME_TICKS_FIELD_NUMBER: _ClassVar[int]
    DELTA_BYTES_FIELD_NUMBER: _ClassVar[int]
    TOTAL_BYTES_FIELD_NUMBER: _ClassVar[int]
    RESERVED_BYTES_FIELD_NUMBER: _ClassVar[int]
    ADDRESS_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    node: _common_pb2.Column
    device: _common_pb2.Column
    allocator: _common_pb2.Column
    time_ticks: _common_pb2.Column
    delta_bytes: _common_pb2.Column
    total_bytes: _common_pb2.Column
    reserved_bytes: _common_pb2.Column
    address: _common_pb2.Column
    step: _common_pb2.Column
    def __init__(self, node: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., device: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., allocator: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., time_ticks: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., delta_bytes: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., total_bytes: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., reserved_bytes: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., address: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., step: _Optional[_Union[_common_pb2.Column, _Mapping]] = ...) -> None: ...

class Links(_message.Message):
    __slots__ = ("source", "target", "kind", "count")
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    TARGET_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    source: _common_pb2.Column
    target: _common_pb2.Column
    kind: _common_pb2.Column
    count: _common_pb2.Column
    def __init__(self, source: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., target: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., kind: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., count: _Optional[_Union[_common_pb2.Column, _Mapping]] = ...) -> None: ...

class Communications(_message.Message):
    __slots__ = ("execution", "collective", "group", "ranks", "sequence", "input_elements", "output_elements", "dtype", "group_size", "source", "destination")
    EXECUTION_FIELD_NUMBER: _ClassVar[int]
    COLLECTIVE_FIELD_NUMBER: _ClassVar[int]
    GROUP_FIELD_NUMBER: _ClassVar[int]
    RANKS_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    INPUT_ELEMENTS_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_ELEMENTS_FIELD_NUMBER: _ClassVar[int]
    DTYPE_FIELD_NUMBER: _ClassVar[int]
    GROUP_SIZE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    DESTINATION_FIELD_NUMBER: _ClassVar[int]
    execution: _common_pb2.Column
    collective: _common_pb2.Column
    group: _common_pb2.Column
    ranks: _common_pb2.Column
    sequence: _common_pb2.Column
    input_elements: _common_pb2.Column
    output_elements: _common_pb2.Column
    dtype: _common_pb2.Column
    group_size: _common_pb2.Column
    source: _common_pb2.Column
    destination: _common_pb2.Column
    def __init__(self, execution: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., collective: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., group: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., ranks: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., sequence: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., input_elements: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., output_elements: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., dtype: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., group_size: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., source: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., destination: _Optional[_Union[_common_pb2.Column, _Mapping]] = ...) -> None: ...

class Attributes(_message.Message):
    __slots__ = ("node", "key", "value")
    NODE_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    node: _common_pb2.Column
    key: _common_pb2.Column
    value: _common_pb2.Column
    def __init__(self, node: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., key: _Optional[_Union[_common_pb2.Column, _Mapping]] = ..., value: _Optional[_Union[_common_pb2.Column, _Mapping]] = ...) -> None: ...

class Profile(_message.Message):
    __slots__ = ("header", "tick_ps", "nested", "has_traces", "strings", "nodes", "op_types", "inputs", "outputs", "shapes", "dims", "scopes", "frames", "traces", "devices", "lanes", "steps", "node_steps", "executions", "allocations", "links", "attributes", "communications")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    TICK_PS_FIELD_NUMBER: _ClassVar[int]
    NESTED_FIELD_NUMBER: _ClassVar[int]
    HAS_TRACES_FIELD_NUMBER: _ClassVar[int]
    STRINGS_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    OP_TYPES_FIELD_NUMBER: _ClassVar[int]
    INPUTS_FIELD_NUMBER: _ClassVar[int]
    OUTPUTS_FIELD_NUMBER: _ClassVar[int]
    SHAPES_FIELD_NUMBER: _ClassVar[int]
    DIMS_FIELD_NUMBER: _ClassVar[int]
    SCOPES_FIELD_NUMBER: _ClassVar[int]
    FRAMES_FIELD_NUMBER: _ClassVar[int]
    TRACES_FIELD_NUMBER: _ClassVar[int]
    DEVICES_FIELD_NUMBER: _ClassVar[int]
    LANES_FIELD_NUMBER: _ClassVar[int]
    STEPS_FIELD_NUMBER: _ClassVar[int]
    NODE_STEPS_FIELD_NUMBER: _ClassVar[int]
    EXECUTIONS_FIELD_NUMBER: _ClassVar[int]
    ALLOCATIONS_FIELD_NUMBER: _ClassVar[int]
    LINKS_FIELD_NUMBER: _ClassVar[int]
    ATTRIBUTES_FIELD_NUMBER: _ClassVar[int]
    COMMUNICATIONS_FIELD_NUMBER: _ClassVar[int]
    header: _common_pb2.Header
    tick_ps: int
    nested: bool
    has_traces: bool
    strings: _common_pb2.StringTable
    nodes: Nodes
    op_types: OpTypes
    inputs: Inputs
    outputs: Outputs
    shapes: Shapes
    dims: Dims
    scopes: Scopes
    frames: Frames
    traces: Traces
    devices: Devices
    lanes: Lanes
    steps: Steps
    node_steps: NodeSteps
    executions: Executions
    allocations: Allocations
    links: Links
    attributes: Attributes
    communications: Communications
    def __init__(self, header: _Optional[_Union[_common_pb2.Header, _Mapping]] = ..., tick_ps: _Optional[int] = ..., nested: bool = ..., has_traces: bool = ..., strings: _Optional[_Union[_common_pb2.StringTable, _Mapping]] = ..., nodes: _Optional[_Union[Nodes, _Mapping]] = ..., op_types: _Optional[_Union[OpTypes, _Mapping]] = ..., inputs: _Optional[_Union[Inputs, _Mapping]] = ..., outputs: _Optional[_Union[Outputs, _Mapping]] = ..., shapes: _Optional[_Union[Shapes, _Mapping]] = ..., dims: _Optional[_Union[Dims, _Mapping]] = ..., scopes: _Optional[_Union[Scopes, _Mapping]] = ..., frames: _Optional[_Union[Frames, _Mapping]] = ..., traces: _Optional[_Union[Traces, _Mapping]] = ..., devices: _Optional[_Union[Devices, _Mapping]] = ..., lanes: _Optional[_Union[Lanes, _Mapping]] = ..., steps: _Optional[_Union[Steps, _Mapping]] = ..., node_steps: _Optional[_Union[NodeSteps, _Mapping]] = ..., executions: _Optional[_Union[Executions, _Mapping]] = ..., allocations: _Optional[_Union[Allocations, _Mapping]] = ..., links: _Optional[_Union[Links, _Mapping]] = ..., attributes: _Optional[_Union[Attributes, _Mapping]] = ..., communications: _Optional[_Union[Communications, _Mapping]] = ...) -> None: ...
