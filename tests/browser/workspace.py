"""A folder as a server finds it: golden data, runs, review queues and sessions of a garden shop,
with everything that makes pages hard: long conversations, long texts, other scripts, many rows."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from carob.analysis.summary import summarise, verdict
from carob.api.datasets import save
from carob.api.golden.folder import GoldenFolder
from carob.api.history import label_run
from carob.api.review import create_queue, label_item
from carob.api.run_request import RunRequest
from carob.api.runs import evaluate
from carob.api.settings import NO_CONFIG
from carob.api.store import save_run
from carob.schema import (
    Case,
    CaseResult,
    CaseScore,
    Dataset,
    Exchange,
    MetricSpec,
    Run,
    RunDataset,
    ToolCall,
    ToolResult,
    Trace,
    Turn,
)
from carob.schema.trace import ModelCall, Span

METRICS = ("tool_trajectory_avg_score", "response_match_score")
SHOP = "garden_shop"
HEBREW = "מתי מגיעה ההזמנה שלי? אני מחכה כבר שבוע."
JAPANESE = "注文した植木鉢はいつ届きますか。もう一週間待っています。"


class Seeded(NamedTuple):
    """What the workspace contains."""

    good: str
    bad: str
    large: str
    judged: str
    queue: str


def case(id: str, *turns: Turn, tags: Sequence[str] = ()) -> Case:
    return Case(id=id, turns=turns, tags=tuple(tags))


def turn(user: str, response: str, *calls: ToolCall) -> Turn:
    return Turn(user=user, response=response, tool_calls=calls)


def call(name: str, **args: str | int) -> ToolCall:
    return ToolCall(name=name, args=dict(args), id=f"{name}-1")


def golden_cases() -> list[Case]:
    """The golden data of the shop."""
    return [
        case(
            "delivery_date",
            turn(
                "When will my three rose bushes arrive?",
                "Your roses arrive on Thursday, 5 March, before noon.",
                call("find_order", order="GS-2041"),
                call("delivery_slot", order="GS-2041", day="2026-03-05"),
            ),
            turn("Can you leave them at the shed?", "Of course, I noted: leave at the shed."),
            tags=("delivery", "orders"),
        ),
        case(
            "late_frost",
            turn(
                "Is it too early for tomatoes outside?",
                "Yes. Wait until the middle of May, after the last frost.",
                call("frost_dates", region="north"),
            ),
            tags=("advice",),
        ),
        case(
            "return_pot",
            turn(
                "The pot is cracked, I want my money back.",
                "I am sorry. I opened return R-88 for the pot.",
                call("open_return", order="GS-1990", item="terracotta pot"),
            ),
            tags=("returns", "orders"),
        ),
        case("opening_hours", turn("When are you open?", "Monday to Saturday, 8 to 18.")),
        case("hebrew", turn(HEBREW, "ההזמנה תגיע ביום חמישי."), tags=("languages",)),
        case("japanese", turn(JAPANESE, "木曜日の午前中に届きます。"), tags=("languages",)),
        case("long_answer", turn("Tell me everything about compost.", compost("good soil"))),
        case(
            "long_talk",
            *(turn(f"Question {n} about hedges?", f"Answer {n}.") for n in range(1, 201)),
        ),
    ]


def compost(word: str) -> str:
    """A text of more than 100 kB."""
    return " ".join(f"Layer {n} of the compost needs {word}, air and water." for n in range(2_300))


def trace_of(golden: Case, turns: Sequence[Turn] | None = None, model: str = "fern-1") -> Trace:
    """What an agent did: by default exactly what was expected."""
    start = 1_772_000_000_000_000_000
    actual = [
        msgspec.structs.replace(
            item,
            tool_results=tuple(
                ToolResult(name=c.name, id=c.id, result={"ok": True}) for c in item.tool_calls or ()
            ),
            tool_calls=tuple(
                msgspec.structs.replace(
                    c,
                    start=start + place * 10**9 + (n + 1) * 10**8,
                    end=start + place * 10**9 + (n + 1) * 10**8 + 7 * 10**7,
                )
                for n, c in enumerate(item.tool_calls or ())
            ),
            model_calls=(
                ModelCall(
                    model=model,
                    start=start + place * 10**9 + 10**8,
                    end=start + place * 10**9 + 7 * 10**8,
                ),
            ),
            start=start + place * 10**9,
            end=start + place * 10**9 + 8 * 10**8,
        )
        for place, item in enumerate(turns if turns is not None else golden.turns)
    ]
    return Trace(
        id=f"trace-{golden.id}",
        turns=tuple(actual),
        case=golden.id,
        convention="genai",
        spans=tuple(span for place, item in enumerate(actual) for span in turn_spans(place, item)),
    )


def turn_spans(place: int, item: Turn) -> Iterator[Span]:
    """What an instrumentation writes for a turn: the agent, its model calls and tool calls."""

    def span(id: str, name: str, start: int | None, end: int | None, **more: str) -> Span:
        return Span(
            trace_id="1f",
            span_id=f"{place}-{id}",
            parent_id=None if id == "agent" else f"{place}-agent",
            name=name,
            start=start,
            end=end,
            attributes={"turn": place, **more},
        )

    yield span("agent", "invoke_agent shop", item.start, item.end)
    for number, asked in enumerate(item.model_calls):
        yield span(f"chat{number}", f"chat {asked.model}", asked.start, asked.end)
    for number, tool in enumerate(item.tool_calls or ()):
        yield span(f"tool{number}", f"execute_tool {tool.name}", tool.start, tool.end)


def changed(golden: Case) -> Sequence[Turn] | None:
    """What the bad release does differently."""
    first = golden.turns[0]
    match golden.id:
        case "delivery_date":
            calls = (
                call("find_order", order="GS-2041"),
                call("delivery_slot", order="GS-2041", day="2026-03-06"),
            )
            answer = "Your roses arrive on Friday, 6 March, before noon."
            return [turn(first.user or "", answer, *calls), *golden.turns[1:]]
        case "late_frost":
            return [turn(first.user or "", "No, plant them now.")]
        case "return_pot":
            more = (*(first.tool_calls or ()), call("send_voucher", amount=20))
            return [turn(first.user or "", first.response or "", *more)]
        case "hebrew":
            return [turn(HEBREW, "אין לי מידע על ההזמנה.")]
        case "long_answer":
            return [turn(first.user or "", compost("old soil"))]
        case "long_talk":
            turns = list(golden.turns)
            turns[150] = turn(turns[150].user or "", "I do not know.")
            return turns
        case _:
            return None


def run_of(folder: Path, store: str, cases: Iterable[Case], bad: Iterable[str], label: str) -> Run:
    """Evaluate the agent; some cases go wrong."""
    wrong = frozenset(bad)
    model = "fern-2" if wrong else "fern-1"
    traces = [trace_of(c, changed(c) if c.id in wrong else None, model) for c in cases]
    request = RunRequest(
        recorded=traces,
        golden=folder / "golden" / f"{SHOP}.evalset.json",
        metrics=METRICS,
        config=NO_CONFIG,
        store=store,
        labels={"release": label},
        keep_traces=True,
    )
    return evaluate(request).run


def large_run(cases: int = 10_000) -> Run:
    """A run with many cases."""
    results = tuple(_large_result(number) for number in range(cases))
    summary = summarise(results, {})
    return Run(
        id="run-00000000000largE".lower(),
        created_at="2026-03-02T08:00:00Z",
        verdict=verdict(summary),
        dataset=RunDataset(
            name="catalogue", version="2.0.0", digest="sha256:" + "ab" * 32, format="csv"
        ),
        metrics=tuple(
            MetricSpec(
                name=m, version=1, params={}, threshold=0.5, scale=(0.0, 1.0), better="higher"
            )
            for m in METRICS
        ),
        cases=results,
        summary=summary,
    )


def _large_result(number: int) -> CaseResult:
    bad = number % 7 == 0
    status = "failed" if bad else "passed"
    value = 0.1 if bad else 0.9
    reason = f"turn 1: find_plant: name: expected 'plant {number % 5}', got 'weed {number % 3}'"
    return CaseResult(
        case=f"plant_{number:05}",
        trace=f"trace_{number:05}",
        status=status,
        scores=tuple(
            CaseScore(m, status, value, 0.5, reason if bad and m == METRICS[0] else "")
            for m in METRICS
        ),
        exchanges=(Exchange(f"Do you sell plant {number}?", "Yes.", "No."),) if bad else (),
    )


def judged_run() -> Run:
    """A run of a judge, for review."""
    results = tuple(
        CaseResult(
            case=f"tone_{n}",
            trace=f"talk_{n}",
            status="passed" if n % 3 else "failed",
            scores=(
                CaseScore(
                    "tone",
                    "passed" if n % 3 else "failed",
                    float(bool(n % 3)),
                    0.5,
                    "The judge says so.",
                ),
            ),
            exchanges=(
                Exchange(f"My order {n} is late!", "I am sorry to hear that.", f"So what, {n}?"),
            ),
        )
        for n in range(40)
    )
    summary = summarise(results, {})
    tone = MetricSpec(
        name="tone", version=1, params={}, threshold=0.5, scale=(0.0, 1.0), better="higher"
    )
    return Run(
        id="run-0000000000007000",
        created_at="2026-03-03T08:00:00Z",
        verdict=verdict(summary),
        dataset=RunDataset(
            name="tone", version=None, digest="sha256:" + "cd" * 32, format="examples"
        ),
        metrics=(tone,),
        cases=results,
        summary=summary,
    )


def write_golden(folder: Path, cases: Sequence[Case]) -> GoldenFolder:
    """Write the golden data of the shop as an ADK eval set."""
    (folder / "golden").mkdir(parents=True, exist_ok=True)
    save(Dataset(name=SHOP, cases=cases), folder / "golden" / f"{SHOP}.evalset.json", format="adk")
    return GoldenFolder(folder / "golden", folder / "golden" / "registry")


def seed(folder: Path, store: str, *, large: int = 2_500) -> Seeded:
    """Fill a folder and a store."""
    from carob.api.release import release

    cases = golden_cases()
    golden = write_golden(folder, cases)
    release(golden.path / f"{SHOP}.evalset.json", by="Mara", registry=golden.registry)
    flaky = ("late_frost",)
    run_of(folder, store, cases, (), "1.0")
    run_of(folder, store, cases, flaky, "1.1")
    run_of(folder, store, cases, (), "1.2")
    run_of(folder, store, cases, flaky, "1.3")
    good = run_of(folder, store, cases, (), "1.4")
    bad = run_of(folder, store, cases, [c.id for c in cases], "1.5")
    for run in (good, bad):
        label_run(run.id, {"batch": "releases"}, store=store)
    many, judged = large_run(large), judged_run()
    for run in (many, judged):
        save_run(run, store=store)
    queue = create_queue(judged.id, "tone", store=store)
    for place in range(6):
        label_item(queue.id, place, "passed" if place % 3 else "failed", by="Ida", store=store)
    return Seeded(good.id, bad.id, many.id, judged.id, queue.id)


def otlp_session(name: str, user: str, answer: str, *, content: bool = True) -> bytes:
    """A session of one turn as an agent with GenAI instrumentation exports it."""
    now = time.time_ns()
    trace = f"{abs(hash(name)):032x}"[-32:]

    def attribute(key: str, value: str) -> dict[str, object]:
        return {"key": key, "value": {"stringValue": value}}

    def message(role: str, text: str) -> str:
        return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]}])

    texts = [
        attribute("gen_ai.input.messages", message("user", user)),
        attribute("gen_ai.output.messages", message("assistant", answer)),
    ]
    spans = [
        {
            "traceId": trace,
            "spanId": f"{number:016x}",
            "parentSpanId": f"{1:016x}" if number > 1 else "",
            "name": span,
            "kind": 1,
            "startTimeUnixNano": str(now - 10**9),
            "endTimeUnixNano": str(now),
            "attributes": [
                attribute("gen_ai.operation.name", operation),
                attribute("gen_ai.agent.name", "shop_agent"),
                attribute("gen_ai.conversation.id", name),
                attribute("gen_ai.request.model", "fern-1"),
                *(texts if content else []),
            ],
        }
        for number, span, operation in (
            (1, "invoke_agent shop_agent", "invoke_agent"),
            (2, "chat fern-1", "chat"),
        )
    ]
    scope = {"scope": {"name": "opentelemetry.instrumentation.genai"}, "spans": spans}
    return json.dumps({"resourceSpans": [{"resource": {}, "scopeSpans": [scope]}]}).encode()
