from __future__ import annotations

from pathlib import Path

from carob.api.demo import load_demo
from carob.api.golden.folder import GoldenFolder
from carob.api.views.case import view_case
from carob.api.views.case_spans import SpanGroup, group_spans, mark_spans
from carob.schema import Turn
from carob.schema.trace import Span


def span(name: str, start: int | None, end: int | None, parent: str | None = None) -> Span:
    return Span(trace_id="t", span_id=name, parent_id=parent, name=name, start=start, end=end)


def names(group: SpanGroup) -> list[tuple[str, int]]:
    return [(row.span.name, row.depth) for row in group.rows]


def test_spans_are_under_the_turn_in_which_they_began():
    turns = [Turn(user="Hello", start=10, end=20), Turn(user="And now?", start=30, end=40)]
    spans = [
        span("session", 10, 40),
        span("chat 2", 31, 35, "agent 2"),
        span("agent 1", 10, 20, "session"),
        span("agent 2", 30, 40, "session"),
    ]
    around, first, second = group_spans(spans, turns)
    assert (around.turn, names(around)) == (None, [("session", 0)])
    assert (first.turn, first.user, names(first)) == (1, "Hello", [("agent 1", 0)])
    assert names(second) == [("agent 2", 0), ("chat 2", 1)]


def test_no_span_is_lost_to_missing_parents_circles_or_times():
    spans = [
        span("a", 1, 2, "b"),
        span("b", 1, 2, "a"),
        span("own parent", 3, 4, "own parent"),
        span("orphan", 5, 6, "gone"),
        span("no time", None, None),
    ]
    (group,) = group_spans(spans)
    assert sorted(name for name, _ in names(group)) == sorted(item.name for item in spans)


def test_deep_trees_are_ordered_without_recursion():
    spans = [span(f"{n}", n, 9_999, f"{n - 1}") for n in range(3_000)]
    (group,) = group_spans(spans)
    assert [row.span.name for row in group.rows] == [f"{n}" for n in range(3_000)]


def test_scores_point_at_the_spans_of_wrong_calls_and_answers(tmp_path: Path):
    (tmp_path / ".carob").mkdir()
    store = str(tmp_path / ".carob" / "carob.db")
    golden = GoldenFolder(tmp_path / "golden", tmp_path / "golden" / "registry")
    run = load_demo(golden, store, tmp_path / ".carob" / "traces")

    def marks(case: str) -> dict[str, tuple[str, ...]]:
        view = view_case(run.id, case, golden=golden.path, registry=golden.registry, store=store)
        assert view.trace
        by_id = {item.span_id: item.name for item in view.trace.spans}
        return {by_id[key]: reasons for key, reasons in mark_spans(view).items()}

    assert marks("repair_brake") == {
        "execute_tool book_repair": (
            "tool_trajectory_avg_score: tool argument differs book_repair.slot",
        )
    }
    answers = marks("warranty_frame")
    assert [*answers.values()] == [
        ("response_match_score: the answer of this turn scored too low",)
    ]
    assert [*answers] == ["chat gemini-2.5-flash"]
    assert marks("opening_hours") == {}
