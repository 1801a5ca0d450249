"""The memory of a profile is answered for a chart of some pixels."""

from __future__ import annotations

from pathlib import Path

import stepscope
from stepscope.panel.documents import views
from stepscope.panel.request import Query


def test_each_device_has_a_series_no_longer_than_the_chart(data: Path) -> None:
    source = stepscope.open(data / "tfprof/synth_gpu.pb.gz")
    answer = views(Query(source, {"shape": ["memory"], "width_px": ["3"]}))
    whole = views(Query(source, {"shape": ["memory"]}))
    assert len(answer["series"]) == 2
    for thin, full in zip(answer["series"], whole["series"], strict=True):
        assert set(thin) >= {"device", "time_ps", "allocated_bytes", "reserved_bytes"}
        assert len(thin["time_ps"]) <= 9 < len(full["time_ps"])
        assert thin["peak_bytes"] == full["peak_bytes"] == max(full["allocated_bytes"])
