"""What tfprof refuses: outputs that a view does not have. Its answer then is a bare root, or nothing at all."""

from __future__ import annotations

from stepscope.lenses.views.options import ORDER_FIELDS, Resolved

KINDS = ("stdout", "none", "file", "text", "timeline", "pprof", "speedscope")
BARE_ROOT, NOTHING = "root", "nothing"


def refusal(resolved: Resolved) -> tuple[str, str] | None:
    """What is left of tfprof's answer because of the `output` asked for, and tfprof's reason; None when all is.

    The timeline of the graph view without a step is written for every step, and answers nothing.
    """
    options = resolved.options
    kind, _, arguments = (options.output or "stdout").partition(":")
    if not resolved.tfprof:
        return None
    if kind not in KINDS:
        return NOTHING, f"Unknown output option: {kind}"
    if any(not part.startswith("outfile=") for part in arguments.split(",") if part):
        return NOTHING, f"Unknown option of output {kind}: {arguments}"
    if kind == "timeline":
        return _timeline(resolved)
    return _pprof(options.view, options.select or ()) if kind == "pprof" else None


def _timeline(resolved: Resolved) -> tuple[str, str] | None:
    if resolved.options.view == "op":
        return BARE_ROOT, "op view doesn't support timeline yet. Consider graph/scope/code view."
    return (NOTHING, "") if resolved.options.view == "graph" and resolved.average else None


def _pprof(view: str, select: tuple[str, ...]) -> tuple[str, str] | None:
    if view != "code":
        return BARE_ROOT, "Only 'code' view supports pprof output now."
    if len(select) != 1:
        return BARE_ROOT, "Can only select 1 attribute for pprof output."
    if select[0] not in ORDER_FIELDS:
        return BARE_ROOT, f"pprof doesn't support -select={select[0]}"
    return None
