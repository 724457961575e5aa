from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from collections.abc import Callable, Sequence
from html.parser import HTMLParser
from itertools import pairwise

import pytest
from msgspec.structs import replace

from carob.report.forms import ReportInputs
from carob.report.html import cases
from carob.report.html.page import format_page
from carob.schema import CaseCounts, CaseResult, CaseScore, Exchange, Run
from carob.schema.comparison import Alignment, ComparedRun, Comparison, Flip, FlippedScore
from carob.schema.history import RunEntry
from carob.schema.run import SummaryGroup, UnmatchedTrace

MakeRun = Callable[..., Run]


def page(
    run: Run, *, earlier: Sequence[RunEntry] = (), comparison: Comparison | None = None
) -> str:
    inputs = ReportInputs(run, load_earlier_runs=lambda: earlier, comparison=comparison)
    return "".join(format_page(inputs))


_VOID = {"br", "hr", "input", "link", "meta", "wbr"}


class Reader(HTMLParser):
    """A strict parser that checks that elements are closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in _VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("script", "style"):
            self.text += data

    def all(self, name: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.elements if tag == name]


def failed(
    name: str = "late",
    reason: str = "matched 1 of 2; missing lookup(id='7'); unexpected refund()",
    expected: str = "It came on Friday.",
    actual: str = "It came on Monday.",
) -> CaseResult:
    score = CaseScore(metric="tool_use", status="failed", value=0.5, threshold=0.8, reason=reason)
    turn = Exchange(user="When did it come?", expected=expected, actual=actual)
    return CaseResult(case=name, trace="t1", status="failed", scores=(score,), exchanges=(turn,))


def passed(name: str = "good") -> CaseResult:
    score = CaseScore(metric="tool_use", status="passed", value=1.0, threshold=0.8)
    return CaseResult(case=name, trace="t2", status="passed", scores=(score,))


def entry(mean: float) -> RunEntry:
    return RunEntry(
        id="run-1",
        created_at="2026-03-01T00:00:00Z",
        verdict="passed",
        dataset="support",
        version="1.2.0",
        cases=CaseCounts(),
        means={"tool_use": mean},
        labels={},
    )


def test_page_is_well_formed_and_self_contained(make_run: MakeRun):
    reader = Reader(page(make_run(failed(), passed())))
    links = [value for _, attributes in reader.elements for value in attributes.values() if value]
    assert not [value for value in links if re.match(r"(?:https?:)?//", value)]
    assert {attributes["href"] for attributes in reader.all("link")} == {"data:,"}
    assert not any("src" in attributes for _, attributes in reader.elements)


def test_content_policy_allows_only_the_embedded_style_and_script(make_run: MakeRun):
    text = page(make_run(failed()))
    policy = next(m["content"] for m in Reader(text).all("meta") if "http-equiv" in m)
    for name in ("script", "style"):
        (content,) = re.findall(rf"<{name}>(.*?)</{name}>", text, re.DOTALL)
        digest = b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in (policy or "")
    assert (policy or "").startswith("default-src 'none';")


def test_no_element_has_inline_styles_or_handlers(make_run: MakeRun):
    reader = Reader(page(make_run(failed(), passed())))
    names = {name for _, attributes in reader.elements for name in attributes}
    assert not [name for name in names if name == "style" or name.startswith("on")]


def test_ids_are_unique_and_internal_links_resolve(make_run: MakeRun):
    reader = Reader(page(make_run(failed(), passed())))
    ids = [attributes["id"] for _, attributes in reader.elements if "id" in attributes]
    targets = {(attributes["href"] or "").removeprefix("#") for attributes in reader.all("a")}
    assert len(ids) == len(set(ids))
    assert targets <= set(ids)


def test_headings_step_down_one_level_at_a_time(make_run: MakeRun):
    reader = Reader(page(make_run(failed(), passed())))
    levels = [int(tag[1]) for tag, _ in reader.elements if re.fullmatch(r"h\d", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_every_table_has_a_caption_and_scoped_headers(make_run: MakeRun):
    reader = Reader(page(make_run(failed(), passed())))
    assert len(reader.all("caption")) == len(reader.all("table"))
    assert all("scope" in attributes for attributes in reader.all("th"))


def test_edit_script_has_a_line_for_each_step(make_run: MakeRun):
    text = page(make_run(failed()))
    assert '<li><span class="step missing" dir="auto">missing lookup(id=' in text
    assert '<li><span class="step unexpected" dir="auto">unexpected refund()' in text


def test_expected_and_actual_are_marked_where_they_differ(make_run: MakeRun):
    text = page(make_run(failed()))
    assert "It came on <del>Friday</del>." in text
    assert "It came on <ins>Monday</ins>." in text


def test_json_answers_are_compared_path_by_path(make_run: MakeRun):
    text = page(make_run(failed(expected='{"day": 5}', actual='{"day": 1}')))
    assert "<code>$.day</code>: expected <del>5</del>, got <ins>1</ins>" in text


def test_missing_turn_is_marked(make_run: MakeRun):
    lost = CaseResult(
        case="c",
        trace=None,
        status="unscored",
        exchanges=(Exchange(user=None, expected="x", actual=None),),
    )
    assert Reader(page(make_run(lost))).text.count("(not recorded)") == 2


def test_groups_become_a_heat_map(make_run: MakeRun):
    counts = CaseCounts(total=2, passed=1, failed=1)
    groups = [
        SummaryGroup(by="tag", value="hard", cases=counts, means={"tool_use": 0.0}),
        SummaryGroup(by="tag", value="easy", cases=counts, means={"tool_use": 1.0}),
        SummaryGroup(by="tag", value="odd", cases=counts, means={}),
    ]
    text = page(make_run(failed(), groups=groups))
    assert '<span class="heat-0">0</span>' in text
    assert '<span class="heat-8">1</span>' in text
    assert '<span class="heat-none">–</span>' in text


def test_earlier_runs_make_a_trend(make_run: MakeRun):
    run = make_run(failed())
    assert "mean by run" not in page(run)
    assert "Mean of tool_use over 2 runs, from 0.9 to 0.5." in page(run, earlier=[entry(0.9)])


def test_run_in_the_history_is_counted_once(make_run: MakeRun):
    run = make_run(failed())
    again = replace(entry(0.5), id=run.id, created_at=run.created_at)
    assert "over 2 runs, from 0.9 to 0.5." in page(run, earlier=[again, entry(0.9)])


def test_comparison_shows_what_flipped(make_run: MakeRun):
    side = ComparedRun(id="run-0", created_at="2026-03-01T00:00:00Z", dataset=None)
    score = FlippedScore(metric="tool_use", before=1.0, after=0.5, reason="missing lookup()")
    flip = Flip(
        case="late", kind="broke", before="passed", after="failed", scores=(score,), turns=()
    )
    comparison = Comparison(
        before=side,
        after=side,
        alpha=0.05,
        adjustment="holm",
        verdict="regressed",
        sentence="The agent got worse.",
        cases=Alignment(same=2, added=("new",)),
        changed_inputs=(),
        overall=None,
        metrics=(),
        flips=(flip,),
        flaky=(),
        reliability=(),
    )
    text = page(make_run(passed(), failed()), comparison=comparison)
    assert "<strong>regressed</strong>: The agent got worse." in text
    assert '<th scope="row"><a href="#case-2">late</a></th>' in text
    assert "<h3>Differs between the runs</h3><ul><li>1 case only after: new" in text


def test_traces_without_a_case_are_listed(make_run: MakeRun):
    text = page(make_run(failed(), unmatched=[UnmatchedTrace(trace="t9", why="no case asks this")]))
    assert "no case asks this" in Reader(text).text


def test_run_without_cases_is_a_page(make_run: MakeRun):
    assert "This run has no cases." in Reader(page(make_run())).text


def test_large_run_omits_details_and_says_so(make_run: MakeRun, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(cases, "_MAX_PASSED_DETAILS", 2)
    monkeypatch.setattr(cases, "_MAX_DETAILS", 100)
    reader = Reader(page(make_run(failed("a"), failed("b"), passed())))
    assert len(reader.all("details")) == 1
    assert "1 passed case shown without details." in reader.text


def test_huge_run_omits_rows_and_says_so(make_run: MakeRun, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(cases, "_MAX_ROWS", 2)
    reader = Reader(page(make_run(passed("a"), passed("b"), failed("c"))))
    assert [attributes["id"] for attributes in reader.all("tbody") if "id" in attributes] == [
        "case-3",
        "case-1",
    ]
    assert "1 case omitted." in reader.text


def test_long_texts_are_cut_with_a_note(make_run: MakeRun):
    text = page(make_run(failed(actual="word " * 10_000)))
    assert "… and 30,000 more characters" in text
    assert len(text) < 200_000


@pytest.mark.parametrize(
    "nasty",
    [
        "</script><script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        '" onmouseover="alert(1)" x=\'',
        "</title></style></svg><iframe src=//evil.example>",
        "<!-- --!> <![CDATA[ ]]> &lt;b&gt;",
    ],
)
def test_text_of_agents_opens_no_element(nasty: str, make_run: MakeRun):
    harmless = Reader(page(make_run(failed(), name="support")))
    hostile = Reader(page(make_run(failed(nasty, nasty, nasty, nasty), name=nasty)))
    extra = {tag for tag, _ in hostile.elements} - {tag for tag, _ in harmless.elements}
    assert extra == set()
    assert len(hostile.all("script")) == 1
    assert nasty in hostile.text
