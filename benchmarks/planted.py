"""Plants causes in simulated training jobs and checks what the findings say of them.

    python benchmarks/planted.py [--cases 60] [--clean 60] [--only host-sync]

Every planted case is simulated with and without the cause, so that the true difference of the elapsed
step time is known. Clean cases have nothing to gain: no finding may promise more than 5 % there.
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from training_simulator import MS, US, Job, Rank, Thread, Wait, write_trace

KERNEL_FLOOR = 1.8 * US
COLLECTIVE_FLOOR = 22 * US
COMPUTE, PREFETCH, COMMUNICATION = 7, 20, 24
GEMM = "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn"
FP32_GEMM = "ampere_sgemm_128x64_tn"
NORM = "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float>(int)"
ATTENTION = "void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4>>"
ELEMENTWISE = "void at::native::vectorized_elementwise_kernel<4, at::native::{}>(int)"
MULTI_TENSOR = "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<{}>"
REDUCE = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"


@dataclass(frozen=True)
class Workload:
    """What a training step does. The defaults have nothing to gain: the host runs ahead of a busy device."""

    seed: int = 0
    layers: int = 8
    steps: int = 6
    ranks: int = 1
    names: str = "cuda"
    backward_thread: bool = False
    host_us: float = 12
    kernel_us: float = 90
    loader_us: float = 40
    items: int = 0
    logs: int = 0
    mallocs: int = 0
    pageable_us: float = 0
    parameters: int = 40
    single_tensor: bool = False
    fp32: bool = False
    compile_ms: float = 0
    compiled_regions: int = 0
    slow_step_ms: float = 0
    collector_ms: float = 0
    warm_up_ms: float = 0
    uneven_work: float = 0
    level_work: float = 0
    late_ms: float = 0
    late_in_turn: bool = False
    overlapped: bool = True
    small_collectives: int = 0
    merged_collectives: bool = False
    chain: int = 0
    fused_chain: bool = False
    layout_copies: int = 0
    upcasts: int = 0
    growing_bytes: int = 0
    fragmented: bool = False
    dropped_share: float = 0


def simulate(workload: Workload, directory: Path) -> float:
    """Writes the trace of every rank; returns the true elapsed time of a step in us."""
    job = Job(workload.ranks, workload.seed, workload.names)
    for rank in job.ranks:
        thread = Thread(rank)
        job.clock.spawn(_Training(rank, thread, workload).run())
    job.clock.run()
    directory.mkdir(parents=True, exist_ok=True)
    for rank in job.ranks:
        write_trace(rank, directory / f"rank{rank.number}.pt.trace.json")
    return max(rank.elapsed for rank in job.ranks) / workload.steps / US


class _Training:
    """The training loop of one rank."""

    def __init__(self, rank: Rank, thread: Thread, workload: Workload) -> None:
        self.rank = rank
        self.thread = thread
        self.w = workload
        self.number = 0
        self.launches = 0
        self.allocated = 0

    def run(self) -> Wait:
        for number in range(self.w.steps):
            self.number = number
            with self.thread.step(number):
                yield from self._step()
        with self.thread.range("cudaDeviceSynchronize"):
            yield from self.thread.synchronize()

    def _step(self) -> Wait:
        yield from self._load()
        yield from self._rare()
        if self.w.compiled_regions:
            yield from self._compiled()
        else:
            yield from self._forward(self.thread)
        if self.w.backward_thread:
            yield from self.thread.join(self._backward(Thread(self.rank, number=2)))
        else:
            yield from self._backward(self.thread)
        yield from self._optimize()
        yield from self._log()

    def _load(self) -> Wait:
        w, thread = self.w, self.thread
        with thread.range(
            "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", "user_annotation"
        ):
            yield from thread.work(w.loader_us * US, "loader")
        late = self.number % w.ranks if w.late_in_turn else w.ranks - 1
        if w.late_ms and self.rank.number == late:
            yield from thread.work(w.late_ms * MS, "late")
        size = 24_000_000
        with thread.range("aten::to"), thread.range("aten::_to_copy"), thread.range("aten::copy_"):
            if w.pageable_us:
                name = "Memcpy HtoD (Pageable -> Device)"
                yield from thread.blocking_copy(name, w.pageable_us * US, size=size)
            else:
                yield from thread.launch(
                    "Memcpy HtoD (Pinned -> Device)",
                    1000 * US,
                    stream=PREFETCH,
                    category="gpu_memcpy",
                    call="cudaMemcpyAsync",
                    args={"bytes": size},
                )

    def _rare(self) -> Wait:
        """What happens in single steps."""
        w, thread, middle = self.w, self.thread, self.w.steps // 2
        if w.warm_up_ms and self.number == 0:
            yield from thread.call("cudaModuleLoadData", w.warm_up_ms * MS)
        if w.slow_step_ms and self.number == middle:
            yield from thread.work(w.slow_step_ms * MS, "slow")
        if w.collector_ms and self.number % 2:
            arguments = {
                "Python id": 10_000 + self.number,
                "Python parent id": None,
                "Python thread": 0,
            }
            with thread.range("Python GC", "python_function", **arguments):
                yield from thread.work(w.collector_ms * MS, "collector")
        if w.compile_ms and self.number == middle:
            with thread.range("_compile.compile_inner (dynamo_timed)"):
                yield from thread.work(w.compile_ms * MS, "compile")

    def _gemm(self, thread: Thread, factor: float = 1.0) -> Wait:
        w = self.w
        name = FP32_GEMM if w.fp32 else GEMM
        duration = w.kernel_us * US * factor * (4 if w.fp32 else 1)
        if w.uneven_work and self.rank.number == w.ranks - 1:
            duration *= 1 + w.uneven_work
        duration *= 1 + w.level_work
        self.launches += 1
        drop = self.launches < w.dropped_share * w.steps * w.layers * 3
        yield from thread.op("aten::mm", w.host_us * US, thread.launch(name, duration, drop=drop))

    def _kernel(self, thread: Thread, op: str, kernel: str, duration: float) -> Wait:
        yield from thread.op(op, self.w.host_us * US, thread.launch(kernel, duration))

    def _forward(self, thread: Thread) -> Wait:
        for layer in range(self.w.layers):
            yield from self._kernel(thread, "aten::native_layer_norm", NORM, 15 * US)
            yield from self._gemm(thread)
            yield from self._kernel(thread, "aten::_flash_attention_forward", ATTENTION, 60 * US)
            yield from self._extras(thread, layer)

    def _extras(self, thread: Thread, layer: int) -> Wait:
        w = self.w
        each = w.mallocs / w.layers
        for _ in range(int((layer + 1) * each) - int(layer * each)):
            with thread.range("aten::empty"):
                yield from thread.call("cudaMalloc", 150 * US)
                yield from thread.free()
        if w.chain and w.fused_chain:
            yield from self._kernel(
                thread,
                "triton_poi_fused_0",
                "triton_poi_fused_add_gelu_mul_0",
                40 * US + KERNEL_FLOOR,
            )
        elif w.chain:
            names = ["add", "mul", "gelu", "sigmoid", "sub", "div", "tanh", "exp"]
            for name in itertools.islice(itertools.cycle(names), w.chain):
                kernel = ELEMENTWISE.format(f"{name}_functor")
                yield from self._kernel(thread, f"aten::{name}", kernel, 40 * US + KERNEL_FLOOR)
        for _ in range(w.layout_copies):
            kernel = "void cudnn::engines_precompiled::nchwToNhwcKernel<__nv_bfloat16, __nv_bfloat16, float>(int)"
            yield from self._kernel(thread, "aten::contiguous", kernel, 45 * US)
        for _ in range(w.upcasts):
            kernel = ELEMENTWISE.format(
                "direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda(float)#1}"
            )
            with thread.range("aten::to"), thread.range("aten::_to_copy"):
                yield from self._kernel(thread, "aten::copy_", kernel, 45 * US)

    def _compiled(self) -> Wait:
        w, thread = self.w, self.thread
        middle = w.steps // 2
        generation = 1 if w.compile_ms and self.number >= middle else 0
        each = max(w.layers // w.compiled_regions, 1)
        for region in range(w.compiled_regions):
            if region:
                yield from thread.work(500 * US, "break")
            with thread.range(f"Torch-Compiled Region: {region}/{generation}"):
                layers = each if region else w.layers - each * (w.compiled_regions - 1)
                for _ in range(layers):
                    yield from self._gemm(thread)

    def _backward(self, thread: Thread) -> Wait:
        for layer in range(self.w.layers):
            yield from self._gemm(thread)
            yield from self._gemm(thread)
            if self.w.ranks > 1 and self.w.overlapped:
                yield from self._reduce(thread, layer)
        if self.w.ranks > 1 and not self.w.overlapped:
            for layer in range(self.w.layers):
                yield from self._reduce(thread, layer)

    def _reduce(self, thread: Thread, layer: int) -> Wait:
        """The collective of a layer's gradients, in one call or in many."""
        w = self.w
        calls = max(w.small_collectives, 1)
        payload = w.kernel_us * US
        if not w.small_collectives:
            durations = [COLLECTIVE_FLOOR + payload]
        elif w.merged_collectives:
            durations = [COLLECTIVE_FLOOR + calls * 2 * US]
        else:
            durations = [COLLECTIVE_FLOOR + 2 * US] * calls
        for call, duration in enumerate(durations):
            size = int(duration - COLLECTIVE_FLOOR) * 20
            args: dict[str, object] = {
                "Collective name": "allreduce", "In msg nelems": size, "Out msg nelems": size, "Group size": w.ranks,
                "dtype": "BFloat16", "Process Group Name": "0", "Process Group Ranks": str(list(range(w.ranks))),
            }  # fmt: skip
            ready = thread.event(COMPUTE)
            with thread.range("nccl:all_reduce", "user_annotation"):
                yield from thread.launch(
                    REDUCE,
                    duration,
                    stream=COMMUNICATION,
                    after=ready,
                    meeting=f"{self.number}/{layer}/{call}",
                    call="cudaLaunchKernelExC",
                    args=args,
                )

    def _optimize(self) -> Wait:
        w, thread = self.w, self.thread
        gradients = thread.event(COMMUNICATION)
        parameters = w.parameters
        each = 0.5 * US
        with thread.range("Optimizer.step#AdamW.step", "user_annotation"):
            if w.single_tensor:
                for _ in range(parameters):
                    for op in ("mul_", "addcmul_", "sqrt", "addcdiv_"):
                        kernel = ELEMENTWISE.format(f"{op}_functor")
                        yield from self._kernel(thread, f"aten::{op}", kernel, KERNEL_FLOOR + each)
                return
            for op in ("mul_", "addcmul_", "sqrt", "addcdiv_"):
                kernel = MULTI_TENSOR.format(op)
                duration = KERNEL_FLOOR + parameters * each
                launch = thread.launch(kernel, duration, after=gradients)
                yield from thread.op(f"aten::_foreach_{op}", self.w.host_us * US, launch)

    def _log(self) -> Wait:
        w, thread = self.w, self.thread
        for log in range(w.logs):
            if log:
                yield from self._gemm(thread)
            if log < w.items:
                yield from thread.item()
            yield from thread.work(600 * US, "logging")
        self._remember()

    def _remember(self) -> None:
        w, thread = self.w, self.thread
        if not w.growing_bytes and not w.fragmented:
            return
        active = 20_000_000_000
        self.allocated += w.growing_bytes
        reserved = 70_000_000_000 if w.fragmented else active + 1_000_000_000 + self.allocated
        thread.memory(active, self.allocated + active, reserved)
        thread.memory(-active, self.allocated, reserved)


@dataclass(frozen=True)
class Cause:
    """A cause.

    Attributes:
        rule: The finding that must name it.
        plant: Puts the cause into a workload; larger severities cost more.
        cure: The workload without it; the default is the workload before.
        has_saving: Whether the finding must say what it saves.
    """

    rule: str
    plant: Callable[[Workload, int], Workload]
    cure: Callable[[Workload, int], Workload] | None = None
    has_saving: bool = True
    base: Callable[[Workload], Workload] = lambda workload: workload


def _with(**values: object) -> Callable[[Workload], Workload]:
    return lambda workload: dataclasses.replace(workload, **values)  # type: ignore[arg-type]


def _planted(**values: Callable[[Workload, int], object]) -> Callable[[Workload, int], Workload]:
    def plant(workload: Workload, severity: int) -> Workload:
        fields = {name: value(workload, severity) for name, value in values.items()}
        return dataclasses.replace(workload, **fields)  # type: ignore[arg-type]

    return plant


SEVERITIES = (1, 2, 3)
_SEVERAL = _with(ranks=3)

CAUSES: dict[str, Cause] = {
    cause.rule: cause
    for cause in (
        Cause("host-bound", _planted(host_us=lambda w, s: 60 + 40 * s), None),
        Cause(
            "host-sync",
            _planted(
                items=lambda w, s: s * max(w.layers // 8, 1),
                logs=lambda w, s: s * max(w.layers // 8, 1),
            ),
            cure=_planted(logs=lambda w, s: s * max(w.layers // 8, 1)),
        ),
        Cause("device-allocations", _planted(mallocs=lambda w, s: s * w.layers // 2)),
        Cause("pageable-copies", _planted(pageable_us=lambda w, s: 120.0 * s * w.layers)),
        Cause(
            "unfused-optimizer",
            _planted(parameters=lambda w, s: 8 * s * w.layers, single_tensor=lambda w, s: True),
            cure=_planted(parameters=lambda w, s: 8 * s * w.layers),
        ),
        Cause("unused-tensor-cores", _planted(fp32=lambda w, s: True), has_saving=False),
        Cause(
            "recompilation",
            _planted(compile_ms=lambda w, s: 3.0 * s * w.layers),
            base=_with(compiled_regions=1),
        ),
        Cause(
            "graph-breaks",
            _planted(compiled_regions=lambda w, s: 2 + s * 2),
            base=_with(compiled_regions=1, kernel_us=24.0, host_us=8.0),
        ),
        Cause("slow-steps", _planted(slow_step_ms=lambda w, s: 3.0 * s * w.layers)),
        Cause("garbage-collection", _planted(collector_ms=lambda w, s: 1.5 * s * w.layers)),
        Cause(
            "initialisation",
            _planted(warm_up_ms=lambda w, s: 10.0 * s * w.layers),
            has_saving=False,
        ),
        Cause(
            "imbalanced-ranks",
            _planted(uneven_work=lambda w, s: 0.2 + 0.2 * s),
            cure=_planted(level_work=lambda w, s: (0.2 + 0.2 * s) / w.ranks),
            base=_SEVERAL,
        ),
        Cause("late-rank", _planted(late_ms=lambda w, s: 0.4 * s * w.layers), base=_SEVERAL),
        Cause("exposed-communication", _planted(overlapped=lambda w, s: False), base=_SEVERAL),
        Cause(
            "small-collectives",
            _planted(small_collectives=lambda w, s: 8 + 8 * s),
            cure=_planted(
                small_collectives=lambda w, s: 8 + 8 * s, merged_collectives=lambda w, s: True
            ),
            base=_SEVERAL,
        ),
        Cause(
            "memory-bound-elementwise",
            _planted(chain=lambda w, s: 3 + 2 * s),
            cure=_planted(chain=lambda w, s: 3 + 2 * s, fused_chain=lambda w, s: True),
        ),
        Cause("layout-copies", _planted(layout_copies=lambda w, s: s)),
        Cause("upcasts", _planted(upcasts=lambda w, s: s)),
        Cause("data-loader-wait", _planted(loader_us=lambda w, s: 600.0 * s * w.layers)),
        Cause("growing-memory", _planted(growing_bytes=lambda w, s: s * 10**9), has_saving=False),
        Cause("fragmentation", _planted(fragmented=lambda w, s: True), has_saving=False),
        Cause(
            "missing-device-work", _planted(dropped_share=lambda w, s: 0.2 * s), has_saving=False
        ),
    )
}

PAIRS = (
    ("host-sync", "memory-bound-elementwise"),
    ("pageable-copies", "memory-bound-elementwise"),
    ("recompilation", "pageable-copies"),
    ("garbage-collection", "layout-copies"),
    ("device-allocations", "data-loader-wait"),
    ("slow-steps", "upcasts"),
    ("memory-bound-elementwise", "unfused-optimizer"),
    ("data-loader-wait", "unused-tensor-cores"),
    ("late-rank", "upcasts"),
    ("exposed-communication", "layout-copies"),
)
LAYERS = (6, 14, 32)


@dataclass(frozen=True)
class Case:
    """A planted case: the workload with all causes, and without each of them."""

    name: str
    rules: tuple[str, ...]
    workload: Workload
    without: tuple[Workload, ...]


def cases() -> Iterator[Case]:
    """60 planted cases over all rules: one cause in two sizes, every fourth in a third, and pairs of causes."""
    seed = itertools.count(1)
    for number, (rule, cause) in enumerate(CAUSES.items()):
        for place, layers in enumerate(LAYERS):
            if place == 2 and number % 4:
                continue
            base = cause.base(_varied(next(seed), layers))
            cure = base if cause.cure is None else cause.cure(base, place + 1)
            planted = cause.plant(base, place + 1)
            yield Case(f"{rule} {layers}", (rule,), planted, (cure,))
    for first, second in PAIRS:
        one, other = CAUSES[first], CAUSES[second]
        base = other.base(one.base(_varied(next(seed), 12)))
        both = other.plant(one.plant(base, 3), 3)
        without_first = _cured(one, other, base)
        without_second = _cured(other, one, base)
        yield Case(f"{first} + {second}", (first, second), both, (without_first, without_second))


def _cured(cause: Cause, other: Cause, base: Workload) -> Workload:
    cured = base if cause.cure is None else cause.cure(base, 3)
    return other.plant(cured, 3)


def _varied(seed: int, layers: int) -> Workload:
    """A clean workload of many: NVIDIA and AMD names, with and without a backward thread."""
    return Workload(
        seed=seed,
        layers=layers,
        names="hip" if seed % 5 == 0 else "cuda",
        backward_thread=seed % 2 == 0,
        kernel_us=70.0 + 10 * (seed % 4),
    )


def clean_workloads() -> Iterator[Workload]:
    """60 workloads without anything to gain."""
    for seed in range(1000, 1060):
        workload = _varied(seed, LAYERS[seed % 3])
        if seed % 4 == 1:
            workload = _SEVERAL(workload)
        if seed % 4 == 2:
            workload = dataclasses.replace(workload, compiled_regions=1)
        yield workload


@dataclass(frozen=True)
class Verdict:
    """What came out of a planted cause."""

    case: str
    rule: str
    place: int
    true_us: float
    saving_us: float | None
    step_us: float
    named: tuple[str, ...]

    @property
    def error(self) -> float | None:
        """How far the saving lies from the truth, as a share of the truth."""
        if self.saving_us is None or self.true_us <= 0:
            return None
        return self.saving_us / self.true_us - 1


def judge(case: Case, directory: Path) -> list[Verdict]:
    """Simulates a case with and without its causes and asks for the findings."""
    import stepscope

    step_us = simulate(case.workload, directory / "with")
    found = stepscope.open(directory / "with").findings()
    named = tuple(finding["rule"] for finding in found)
    verdicts = []
    for number, (rule, workload) in enumerate(zip(case.rules, case.without, strict=True)):
        true_us = step_us - simulate(workload, directory / f"without{number}")
        place = named.index(rule) if rule in named else -1
        saving = found[place]["saving"] if place >= 0 else None
        verdicts.append(Verdict(case.name, rule, place, true_us, saving, step_us, named[:4]))
    return verdicts


def largest_saving(workload: Workload, directory: Path) -> tuple[float, str]:
    """The largest share that a finding promises, and its rule."""
    import stepscope

    simulate(workload, directory)
    found = stepscope.open(directory).findings()
    shares = [
        (finding["saving_share"] or finding["cost_share"] or 0.0, finding["rule"])
        for finding in found
    ]
    return max(shares, default=(0.0, ""))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", type=int, default=10**6)
    parser.add_argument("--clean", type=int, default=60)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        chosen = [case for case in cases() if options.only in case.name][: options.cases]
        for number, case in enumerate(chosen):
            for verdict in judge(case, Path(folder) / str(number)):
                _print(verdict)
        worst = (0.0, "")
        for number, workload in enumerate(itertools.islice(clean_workloads(), options.clean)):
            share, rule = largest_saving(workload, Path(folder) / f"clean{number}")
            worst = max(worst, (share, rule))
            if share > 0.05:
                print(f"clean {workload}: {rule} {share:.1%}")
        print(f"clean: largest share {worst[0]:.1%} {worst[1]}")


def _print(verdict: Verdict) -> None:
    error = "" if verdict.error is None else f"{verdict.error:+.0%}"
    saving = "none" if verdict.saving_us is None else f"{verdict.saving_us:,.0f}"
    print(
        f"{verdict.case:45} {verdict.rule:26} place {verdict.place:2d}  step {verdict.step_us:9,.0f}  "
        f"true {verdict.true_us:8,.0f}  saving {saving:>8} {error:>5}  {', '.join(verdict.named)}"
    )


if __name__ == "__main__":
    main()
