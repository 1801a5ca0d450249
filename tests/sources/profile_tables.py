"""A profile record as plain tables by name, so that two records can be compared whatever their order."""

from __future__ import annotations

from typing import Any

from stepscope.model.profile import LaneKind, Profile

STEP_FIELDS = (
    *("run_count", "host_ticks", "accelerator_ticks", "start_ticks", "end_ticks"),
    *("requested_bytes", "peak_bytes", "residual_bytes", "output_bytes", "bytes_in_use"),
)


def rows_of(end: Any, row: int) -> slice:
    """The rows of a flat group that belong to a row."""
    return slice(int(end[row - 1]) if row else 0, int(end[row]))


def shapes(profile: Profile) -> list[list[int] | None]:
    """Dimensions of each shape, None for an unknown rank."""
    dims = [
        profile.dims.size[rows_of(profile.shapes.dim_end, i)].tolist()
        for i in range(len(profile.shapes))
    ]
    return [d if rank >= 0 else None for d, rank in zip(dims, profile.shapes.rank, strict=True)]


def scope_paths(profile: Profile) -> list[str]:
    """The path of each scope."""
    text, out = list(profile.strings), []
    for parent, name in zip(profile.scopes.parent, profile.scopes.name, strict=True):
        out.append(text[name] if parent < 0 else f"{out[parent]}/{text[name]}")
    return out


def stacks(profile: Profile) -> list[tuple[tuple[str, int, str], ...]]:
    """The frames down to each trace, outermost first."""
    text, frames, out = list(profile.strings), profile.frames, []
    for parent, f in zip(profile.traces.parent, profile.traces.frame, strict=True):
        own = (text[frames.file[f]], int(frames.line[f]), text[frames.function[f]])
        out.append((*(out[parent] if parent >= 0 else ()), own))
    return out


def describe(profile: Profile) -> dict[str, dict[str, Any]]:
    """Everything that is known of each node, by its name. Executions are those that tfprof counts."""
    nodes, text = profile.nodes, [*profile.strings, None]
    known_shapes, known_stacks, paths = (
        [*shapes(profile), "absent"],
        [*stacks(profile), ()],
        scope_paths(profile),
    )
    table: list[dict[str, Any]] = []
    for i in range(len(nodes)):
        inputs, outputs = rows_of(nodes.input_end, i), rows_of(nodes.output_end, i)
        table.append(
            {
                "scope": paths[nodes.scope[i]],
                "op": text[nodes.op[i]],
                "device": text[nodes.device[i]],
                "types": [text[t] for t in profile.op_types.type[rows_of(nodes.op_type_end, i)]],
                "shape": known_shapes[nodes.shape[i]],
                "parameters": int(nodes.parameters[i]),
                "float_ops": int(nodes.float_ops[i]),
                "stack": known_stacks[nodes.trace[i]],
                "inputs": [text[nodes.name[s]] for s in profile.inputs.source[inputs]],
                "output_shapes": [known_shapes[s] for s in profile.outputs.shape[outputs]],
                "output_bytes": profile.outputs.bytes[outputs].tolist(),
                "steps": {},
                "executions": [],
                "allocations": [],
                "attributes": [],
            }
        )
    _add_rows(profile, table)
    for row in table:
        for key in ("executions", "allocations", "attributes"):
            row[key].sort()
    return {text[name]: row for name, row in zip(nodes.name, table, strict=True)}


def _add_rows(profile: Profile, table: list[dict[str, Any]]) -> None:
    text, ids, base = (
        list(profile.strings),
        profile.steps.id.tolist(),
        profile.header.wall_anchor_ns // 1000,
    )
    costs, runs, changes, more = (
        profile.node_steps,
        profile.executions,
        profile.allocations,
        profile.attributes,
    )
    for j in range(len(costs)):
        figures = tuple(int(getattr(costs, f)[j]) for f in STEP_FIELDS)
        table[costs.node[j]]["steps"][ids[costs.step[j]]] = figures
    for j in range(len(runs)):
        kind, device = (
            int(profile.lanes.kind[runs.lane[j]]),
            text[profile.lanes.device[runs.lane[j]]],
        )
        if kind != LaneKind.OTHER:
            times = (int(runs.start_ticks[j]) + base, int(runs.duration_ticks[j]))
            table[runs.node[j]]["executions"].append((ids[runs.step[j]], device, kind, *times))
    for j in range(len(changes)):
        change = (
            int(changes.time_ticks[j]) + base,
            int(changes.delta_bytes[j]),
            int(changes.total_bytes[j]),
        )
        table[changes.node[j]]["allocations"].append((ids[changes.step[j]], *change))
    for j in range(len(more)):
        table[more.node[j]]["attributes"].append((text[more.key[j]], text[more.value[j]]))
