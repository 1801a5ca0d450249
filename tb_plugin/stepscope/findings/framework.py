"""Which framework a trace is of, and whether it trains, so that changes are named in that framework's words."""

from __future__ import annotations

import re

from stepscope.findings.step_facts import StepFacts

_PYTORCH = re.compile(
    r"^aten::|^autograd::|^torch[._:/]|^Torch-Compiled Region|^vllm::|^ProfilerStep#"
)
_TRAINING = re.compile(
    r"^autograd::|Backward\d*$|^Optimizer\.(?:step|zero_grad)#|\b(?:backward|optimi[sz]er)\b", re.I
)
_VLLM = re.compile(r"^vllm::|\bvllm/")
_SGLANG = re.compile(r"\bsglang/|^sgl_kernel::")

_GRAPH_LAUNCH = re.compile(r"GraphLaunch")
_BATCH = "A larger batch, so that each kernel takes longer than its launch"


def is_pytorch(facts: StepFacts) -> bool:
    """Whether the trace holds ops of PyTorch."""
    return _holds(facts, _PYTORCH)


def is_training(facts: StepFacts) -> bool:
    """Whether the trace holds a backward pass or an optimizer."""
    return _holds(facts, _TRAINING)


def _holds(facts: StepFacts, pattern: re.Pattern[str]) -> bool:
    return bool((facts.named(pattern) & facts.on_host).any())


def launch_changes(facts: StepFacts) -> tuple[str, ...]:
    """Changes that let the host launch less, or in time."""
    if not is_pytorch(facts):
        return (
            "Compile the whole step: jax.jit, or tf.function(jit_compile=True)",
            "Run several steps in one call: jax.lax.scan, or steps_per_execution in Keras",
            _BATCH,
        )
    if is_training(facts):
        return _training_changes(facts)
    return _inference_changes(facts)


def _training_changes(facts: StepFacts) -> tuple[str, ...]:
    if _holds(facts, _GRAPH_LAUNCH):
        return (
            "A larger batch",
            "Put more of the step into the graph",
            "Prepare the next inputs while the graph runs",
        )
    return (
        'torch.compile(model, mode="reduce-overhead"), which uses CUDA graphs',
        _BATCH,
        "Fused ops and optimizers (fused=True)",
    )


def _inference_changes(facts: StepFacts) -> tuple[str, ...]:
    """Changes for a trace without backward pass and optimizer; servers have switches of their own."""
    if _holds(facts, _GRAPH_LAUNCH):
        graphs = "Capture graphs for all batch sizes that occur, and put more of the forward pass into them"
    elif _holds(facts, _VLLM):
        graphs = "CUDA graphs: run vLLM without --enforce-eager"
    elif _holds(facts, _SGLANG):
        graphs = (
            "CUDA graphs: run SGLang without --disable-cuda-graph, and raise --cuda-graph-max-bs"
        )
    else:
        graphs = 'CUDA graphs: torch.compile(model, mode="reduce-overhead")'
    return (
        graphs,
        "Batch more requests, so that each kernel takes longer than its launch",
        "Less Python per token: prepare inputs and sample on the device, schedule the next batch beside this one",
    )


def layout_changes(facts: StepFacts) -> tuple[str, ...]:
    """Changes that make copies between memory layouts needless."""
    if not is_pytorch(facts):
        return (
            "Choose layouts at the jit boundary, so that no copy is needed",
            "Keep the batch and feature dimensions in the same order through the model",
        )
    return (
        "model.to(memory_format=torch.channels_last), and the input in the same format",
        "Drop .contiguous() after transpose and permute where the next op takes strides",
    )


def cast_changes(facts: StepFacts) -> tuple[str, ...]:
    """Changes that make conversions between number types needless."""
    if not is_pytorch(facts):
        return (
            "Keep parameters and activations in bfloat16, and convert once at the jit boundary",
            "Give constants the type of the arrays that they meet",
        )
    if not is_training(facts):
        return ("Load the weights in bfloat16", "Drop .float() around ops that take bfloat16")
    return (
        "Keep weights in bfloat16, or one torch.autocast around the whole step, so that its casts are cached",
        "Drop .float() around ops that take bfloat16",
    )
