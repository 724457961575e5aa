"""Parts of pages that need no server."""

from __future__ import annotations

import re

from carob.report.markup import tag
from carob.schema import Turn
from carob.schema.trace import Span
from carob.server.pages.conversation import user_pair
from carob.server.pages.parts import chips, inline_code, p_value
from carob.server.pages.spans import waterfall


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
