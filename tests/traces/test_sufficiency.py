from __future__ import annotations

from carob.schema import Trace
from carob.traces.sufficiency import check_sufficiency

NEEDS = {"cost": ("usage",), "rouge": ("response", "case.response"), "count": ()}


def lacks(need: str, trace: Trace) -> str | None:
    return "no response was recorded" if need == "response" else None


def test_metric_is_supported_if_its_needs_are_met():
    report = check_sufficiency(Trace(id="t", convention="adk"), NEEDS, lacks)
    assert report.supports == {"cost": None, "rouge": "no response was recorded", "count": None}


def test_hint_depends_on_the_framework():
    report = check_sufficiency(Trace(id="t", convention="openllmetry"), NEEDS, lacks)
    assert report.hints == {
        "no response was recorded": "openllmetry: set TRACELOOP_TRACE_CONTENT=true"
    }


def test_unknown_framework_has_no_hint():
    assert check_sufficiency(Trace(id="t", convention="chat"), NEEDS, lacks).hints == {}
