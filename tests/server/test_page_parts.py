"""Parts of pages that need no server."""

from __future__ import annotations

import re

from carob.report.markup import tag
from carob.schema import Json, ToolCall, Turn
from carob.schema.edit_script import ArgumentChange, EditStep
from carob.schema.trace import AgentMessage, Span, ToolResult
from carob.server.pages.conversation import (
    agents_pair,
    call_pair,
    plain_call,
    plain_turn,
    user_pair,
)
from carob.server.pages.home import verdict_title
from carob.server.pages.parts import chips, limit, p_value
from carob.server.pages.run_cases import difference
from carob.server.pages.spans import waterfall
from carob.server.pages.texts import diff_words, fold_text, inline_code, long_text


def test_marks_become_code_and_text_stays_escaped():
    assert inline_code("run `carob <x>` now") == "run <code>carob &lt;x&gt;</code> now"
    assert inline_code("it`s <b>") == "it`s &lt;b&gt;"


def test_many_links_are_folded_and_none_is_lost():
    links = [tag("a", f"tag {number}") for number in range(40)]
    text = str(chips(links))
    assert "34 more" in text
    assert [f"<a>tag {number}</a>" in text for number in range(40)] == [True] * 40
    assert "<details" not in str(chips(links[:7]))


def test_small_p_values_keep_a_digit():
    assert [p_value(p) for p in (0.25, 0.014, 0.004, 0.0001, 1.0)] == [
        ".25",
        ".01",
        ".004",
        "< .001",
        "1.00",
    ]


def test_message_of_the_trace_is_shown_if_it_is_another_one():
    text = str(user_pair(Turn(user="Where is it?"), Turn(user="Where was it?")))
    assert "Where <del>is</del> it?" in text  # the space around a word is not marked
    assert "Where <ins>was</ins> it?" in text
    assert str(user_pair(Turn(user="Hi"), Turn(user=" Hi\n"))).count("Hi") == 1
    assert "(not recorded)" in str(user_pair(Turn(), Turn()))


def test_hundreds_of_spans_are_folded_by_depth_and_none_is_dropped():
    spans = [
        Span(
            trace_id="t",
            span_id=f"{number}",
            parent_id=None if number == 0 else f"{(number - 1) // 4}",
            name=f"step {number}",
            start=number,
            end=number + 1,
        )
        for number in range(1200)
    ]
    text = str(waterfall(spans))
    shown = [int(number) for number in re.findall(r'dir="auto">step (\d+)<', text)]
    assert sorted(shown) == [*range(1200)]
    assert text.count("<details>") == 4
    assert "spans below <bdi>step 1</bdi>" in text


def test_long_attributes_of_many_spans_are_cut_and_say_so():
    spans = [
        Span(trace_id="t", span_id=f"{number}", name="step", attributes={"prompt": "x" * 900})
        for number in range(501)
    ]
    text = str(waterfall(spans))
    assert "… of 902 characters" in text
    assert len(text) < 501 * 1_200
    assert "characters" not in str(waterfall(spans[:2]))


def text_of(markup: str) -> str:
    """What somebody reads who opens every fold."""
    return re.sub(r"<summary>.*?</summary>|<[^>]+>", "", markup)


def test_thresholds_are_exact():
    assert [limit(value) for value in (0.8, 0.555, 1, 3.625, -0.5, None)] == [
        ".8",
        ".555",
        "1",
        "3.625",
        "-.5",
        "",
    ]


def test_long_text_is_folded_and_none_of_it_is_lost():
    text = " ".join(f"word{number}" for number in range(3_000))
    folded = str(long_text(text))
    assert "<details" in folded
    assert text_of(folded) == text
    assert "<details" not in str(fold_text("x" * 320, 300))


def test_very_long_text_is_cut_only_where_a_page_has_all_of_it():
    text = "x" * 30_000
    assert text_of(str(long_text(text))) == text
    cut = str(long_text(text, raw="/raw"))
    assert '<a href="/raw">all 30,000 characters</a>' in cut
    assert len(cut) < 21_000


def test_what_two_long_texts_share_is_folded_and_what_differs_is_not():
    same = " ".join(f"column_{number}" for number in range(400))
    left, right = diff_words(f"{same} Brandt {same}", f"{same} Brand {same}")
    assert "<del>Brandt</del>" in left
    assert "<ins>Brand</ins>" in right
    assert left.count("characters are the same") == 2
    assert text_of(left) == f"{same} Brandt {same}"
    visible = re.sub(r"<details.*?</details>", "", left)
    assert len(visible) < 700


def test_hour_of_a_timestamp_is_marked_and_the_day_is_not():
    left, right = diff_words("2026-03-05T09:00", "2026-03-05T11:00")
    assert left == "2026-03-05T<del>09</del>:00"
    assert right == "2026-03-05T<ins>11</ins>:00"


def test_team_of_agents_is_shown_with_who_said_what():
    golden = Turn(agents=("planner", "hotels"))
    actual = Turn(
        agents=("planner", "flights"), messages=(AgentMessage("flights", "I found one."),)
    )
    text = str(agents_pair(golden, actual))
    assert re.search(r"<del><bdi>planner</bdi> → <bdi>hotels</bdi></del>", text)
    assert re.search(r"<ins><bdi>planner</bdi> → <bdi>flights</bdi></ins>", text)
    assert "I found one." in text
    assert agents_pair(Turn(agents=("solo",)), Turn(agents=("solo",))) is None


def test_agents_that_golden_data_does_not_state_are_not_wrong():
    text = str(agents_pair(Turn(), Turn(agents=("planner", "flights"))))
    assert "<ins>" not in text
    assert "planner" in text


def test_failed_tool_says_why_and_a_long_result_can_be_opened():
    call = ToolCall(name="book", args={}, id="1")
    failed = str(plain_call(call, [ToolResult(name="book", id="1", error="timeout")]))
    assert "! failed: timeout" in failed
    rows: list[Json] = [*range(500)]
    long = str(plain_call(call, [ToolResult(name="book", id="1", result=rows, origin="mocked")]))
    assert str(rows).replace(" ", "") in text_of(long)
    assert "<details" in long
    assert "mocked" in long


def test_long_argument_is_shown_where_it_differs():
    long = "x " * 2_000
    step = EditStep(
        "change",
        ToolCall(name="query", args={"sql": f"{long}old"}),
        ToolCall(name="query", args={"sql": f"{long}new"}),
        (ArgumentChange("sql", "different", f"{long}old", f"{long}new"),),
    )
    visible = re.sub(r"<details.*?</details>", "", str(call_pair(step, ())))
    assert "<del>old</del>" in visible
    assert "<ins>new</ins>" in visible
    assert len(visible) < 1_500


def test_personal_data_is_marked_where_a_case_becomes_golden():
    said = "write to mara.holt@bike-shop.test please"
    marked = str(plain_turn("user", said, mark_private=True))
    assert re.search(r"<mark title=\"email\">mara\.holt@\S+?</mark> please", marked)
    assert "<mark" not in str(plain_turn("user", said))


def test_first_of_several_differences_is_the_one_that_is_shown():
    reason = "run: query: expected 'a', got 'b'; note: expected 'c', got 'd'"
    shown = "<code>run: query: <del>'a'</del> <ins>'b'</ins></code>"
    assert str(difference(reason)) == shown


def test_home_does_not_call_a_run_without_a_verdict_good():
    assert verdict_title(["passed", "informational"]) == "Nothing fails"
    assert verdict_title(["passed", "inconclusive"]) == "Nothing fails, 1 without a verdict"
    assert verdict_title(["failed", "passed", "inconclusive"]) == (
        "1 of 3 datasets fails, 1 without a verdict"
    )
