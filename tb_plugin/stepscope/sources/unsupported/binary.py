"""Binary files that StepScope does not read, told by their first bytes.

Nothing is unpickled or executed: a pickle is searched for the words of the tools that write it.
"""

from __future__ import annotations

from collections.abc import Sequence

from stepscope.model.wire import DELIMITED, VARINT, Field, WireError, named_fields
from stepscope.sources.unsupported.kind import TORCH_REMEDY, Unsupported

_CHECKPOINT = Unsupported(
    "model checkpoint", "Checkpoints hold no times. Profile the model: " + TORCH_REMEDY
)
_SNAPSHOT = Unsupported(
    "CUDA memory snapshot (pickle of torch.cuda.memory._dump_snapshot)",
    "View it at https://pytorch.org/memory_viz. For memory over time in StepScope, "
    "record a trace with profile_memory=True and export_chrome_trace",
)
_FLIGHT_RECORDER = Unsupported(
    "NCCL flight recorder dump (pickle)",
    "Analyze it with torchfrtrace. For communication in StepScope, export a trace of each rank",
)
_PICKLE = Unsupported(
    "Python pickle, which StepScope never loads because loading runs code", TORCH_REMEDY
)
_PPROF = Unsupported(
    "pprof profile (such as JAX's device memory profile)",
    "View it with `pprof -http=: FILE`. For times, record with jax.profiler.trace",
)
_PERFETTO = Unsupported(
    "Perfetto binary trace (.pftrace)",
    "View it at https://ui.perfetto.dev. For StepScope, write JSON with prof.export_chrome_trace",
)
_NSYS = Unsupported(
    "Nsight Systems report",
    "View it in Nsight Systems. For StepScope, record with torch.profiler and export_chrome_trace",
)
_NCU = Unsupported(
    "Nsight Compute report",
    "View it in Nsight Compute. For StepScope, record with torch.profiler and export_chrome_trace",
)
_EVENTS = Unsupported(
    "TensorBoard event file",
    "Give its log directory instead of the file, as in `stepscope findings LOGDIR`",
)
_IMAGE = "Give the trace or log that it was drawn from"

_MAGICS: Sequence[tuple[bytes, Unsupported]] = (
    (b"NVIDIA Tegra Profiler Report", _NSYS),
    (b"NVR\0", _NCU),
    (b"PERFILE2", Unsupported("Linux perf recording (perf.data)", TORCH_REMEDY)),
    (b"memray\0", Unsupported("memray recording", "View it with `memray flamegraph FILE`")),
    (
        b"\x10\x00\x04FxT\x16\x00",
        Unsupported("Fuchsia trace (.fxt)", "View it at https://ui.perfetto.dev"),
    ),
    (b"\x89HDF\r\n\x1a\n", Unsupported("HDF5 file")),
    (b"PAR1", Unsupported("Parquet table")),
    (b"ARROW1", Unsupported("Arrow table")),
    (b"GGUF", _CHECKPOINT),
    (b"\x7fELF", Unsupported("executable or shared library")),
    (b"\x89PNG", Unsupported("PNG image", _IMAGE)),
    (b"\xff\xd8\xff", Unsupported("JPEG image", _IMAGE)),
    (b"GIF8", Unsupported("GIF image", _IMAGE)),
    (b"%PDF", Unsupported("PDF document", _IMAGE)),
    (b"\x28\xb5\x2f\xfd", Unsupported("Zstandard archive", "Decompress it with `zstd -d FILE`")),
    (b"\xfd7zXZ\0", Unsupported("xz archive", "Decompress it with `xz -d FILE`")),
    (b"BZh", Unsupported("bzip2 archive", "Decompress it with `bzip2 -d FILE`")),
    (b"\x04\x22\x4d\x18", Unsupported("LZ4 archive", "Decompress it with `lz4 -d FILE`")),
    (b"7z\xbc\xaf\x27\x1c", Unsupported("7-Zip archive", "Extract it and give the files in it")),
    (b"\x1f\x8b", Unsupported("gzip file inside a gzip file", "Decompress it once with `gzip -d`")),
)
_ENDINGS: Sequence[tuple[tuple[str, ...], Unsupported]] = (
    ((".nsys-rep", ".qdrep", ".qdstrm"), _NSYS),
    ((".ncu-rep", ".ncu-repz"), _NCU),
    ((".pftrace", ".perfetto-trace"), _PERFETTO),
)
_LEGACY_CHECKPOINT = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."
_TAR_MAGIC_AT = 257
_LARGEST_TENSOR_HEADER = 100 << 20


def binary_kind(name: str, head: bytes) -> Unsupported | None:
    """The kind of a binary file, None where its bytes are not known.

    Args:
        name: The file's name, which decides where the content says nothing.
        head: The first bytes of the content.
    """
    for magic, kind in _MAGICS:
        if head.startswith(magic):
            return kind
    kind_by_structure = (
        _database(head) or _pickle(head) or _archive(head) or _tensors(head) or _protobuf(head)
    )
    if kind_by_structure:
        return kind_by_structure
    for endings, kind in _ENDINGS:
        if name.lower().endswith(endings):
            return kind
    return None


def _database(head: bytes) -> Unsupported | None:
    if not head.startswith(b"SQLite format 3\0"):
        return None
    if b"CUPTI_ACTIVITY_KIND" in head or b"TARGET_INFO_" in head or b"ENUM_NSYS" in head:
        return Unsupported("SQLite database of Nsight Systems (`nsys export`)", _NSYS.remedy)
    if b"CANN_API" in head or b"PYTORCH_API" in head or b"NPU_INFO" in head:
        return Unsupported(
            "SQLite database of the Ascend profiler",
            "Give trace_view.json of the same profile, which export_type=Text writes",
        )
    if b"rocpd_" in head:
        return Unsupported("SQLite database of ROCm (rocpd)", TORCH_REMEDY)
    return Unsupported(
        "SQLite database (such as Nsight Systems and the Ascend profiler write)",
        "Give a Chrome trace of the same run: prof.export_chrome_trace, or Ascend's trace_view.json",
    )


def _pickle(head: bytes) -> Unsupported | None:
    is_binary = head[:1] == b"\x80" and head[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05")
    is_text = head.startswith((b"(dp", b"(lp"))
    if not is_binary and not is_text:
        return None
    if head.startswith(_LEGACY_CHECKPOINT):
        return _CHECKPOINT
    if b"segments" in head and (b"device_traces" in head or b"total_size" in head):
        return _SNAPSHOT
    if b"device_traces" in head or b"segment_type" in head:
        return _SNAPSHOT
    if b"pg_config" in head or b"nccl_version" in head or b"collective_seq_id" in head:
        return _FLIGHT_RECORDER
    return _PICKLE


def _archive(head: bytes) -> Unsupported | None:
    if head.startswith(b"PK\x03\x04"):
        if b"data.pkl" in head[:256]:
            return _CHECKPOINT
        return Unsupported("zip archive", "Extract it and give the files in it")
    if head[_TAR_MAGIC_AT : _TAR_MAGIC_AT + 5] == b"ustar":
        return Unsupported("tar archive", "Extract it and give the folder")
    return None


def _tensors(head: bytes) -> Unsupported | None:
    header_size = int.from_bytes(head[:8], "little")
    if 2 <= header_size < _LARGEST_TENSOR_HEADER and head[8:9] == b"{" and b'"dtype"' in head:
        return Unsupported("model checkpoint (safetensors)", _CHECKPOINT.remedy)
    # marshal writes a dict whose keys are tuples; the high bit marks a shared object.
    if len(head) > 1 and head[0] & 0x7F == ord("{") and head[1] & 0x7F in b"()":
        return Unsupported("cProfile statistics", "View them with `python -m pstats FILE`")
    return None


def _protobuf(head: bytes) -> Unsupported | None:
    if b"brain.Event:" in head[:64]:
        return _EVENTS
    first = _fields_in(head, 0, len(head))
    if not first or first[0].number != 1 or first[0].wire_type != DELIMITED:
        return None
    inner = {
        (field.number, field.wire_type) for field in _fields_in(head, first[0].value, first[0].end)
    }
    # Profile.sample_type: two indices of strings.
    if inner and inner <= {(1, VARINT), (2, VARINT)} and len(first) > 1:
        return _PPROF
    # TracePacket: the time stamp, the clock or the sequence of a packet.
    if inner & {
        (8, VARINT),
        (10, VARINT),
        (58, VARINT),
        (6, DELIMITED),
        (33, DELIMITED),
        (36, DELIMITED),
    }:
        return _PERFETTO
    return None


def _fields_in(data: bytes, start: int, end: int) -> list[Field]:
    """The fields of a message as far as they are whole."""
    found: list[Field] = []
    try:
        for field in named_fields(data, start, min(end, len(data))):
            found.append(field)  # noqa: PERF402
    except WireError:
        pass
    return found
