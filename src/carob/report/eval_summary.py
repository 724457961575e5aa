"""Reports that tools around ours already read: a summary and a log of questions and answers for
golden questions, and averages for each agent."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator

import msgspec

from carob.report.text import markdown_cell, printable, shortened
from carob.schema import CaseResult, CaseScore, Exchange, Json, Run, SummaryGroup

_FENCES = re.compile("`{3,}")


def summary(run: Run, judged: Collection[str] = ()) -> str:
    """`eval_summary.json`: averages over all, and what each question scored. Metrics that a model
    judged stand apart, with their explanations."""
    judged = {*judged, *(use.name for use in run.metrics if use.judge)}
    means = {name: one.mean for name, one in run.summary.metrics.items()}
    return _json(
        {
            "experiment_id": run.id,
            "interaction_datetime": run.created_at,
            "dataset": run.dataset.name if run.dataset else None,
            "dataset_version": run.dataset.version if run.dataset else None,
            "dataset_digest": run.dataset.digest if run.dataset else None,
            "verdict": run.verdict,
            "overall_summary": {
                "deterministic_metrics": {k: v for k, v in means.items() if k not in judged},
                "llm_based_metrics": {k: v for k, v in means.items() if k in judged},
            },
            "per_question_summary": [_question(id, some, judged) for id, some in _by_case(run)],
        }
    )


def _by_case(run: Run) -> Iterator[tuple[str, list[CaseResult]]]:
    found: defaultdict[str, list[CaseResult]] = defaultdict(list)
    for one in run.cases:
        found[one.case or one.trace or ""].append(one)
    yield from found.items()


def _question(id: str, results: list[CaseResult], judged: Collection[str]) -> dict[str, Json]:
    """The means over all attempts at a question."""
    scores = [score for one in results for score in one.scores]
    names = dict.fromkeys(score.metric for score in scores)
    by_name = {name: [score for score in scores if score.metric == name] for name in names}
    return {
        "question_id": id,
        "runs": len(results),
        "passed": sum(one.status == "passed" for one in results),
        "deterministic_metrics": {k: _mean(v) for k, v in by_name.items() if k not in judged},
        "llm_based_metrics": {
            k: {"score": _mean(v), "explanation": "\n".join(one.reason for one in v if one.reason)}
            for k, v in by_name.items()
            if k in judged
        },
    }


def _mean(scores: list[CaseScore]) -> float | None:
    values = [score.value for score in scores if score.value is not None]
    return sum(values) / len(values) if values else None


def agents(run: Run) -> str:
    """For each agent its cases, how many passed, and the averages."""
    groups = [group for group in run.summary.groups if group.by == "agent"]
    return _json({"run": run.id, "agents": [_agent(group) for group in groups]})


def _agent(group: SummaryGroup) -> dict[str, Json]:
    return {
        "agent": group.value,
        "cases": group.cases.total,
        "passed": group.cases.passed,
        "pass_rate": group.cases.passed / group.cases.total,
        "composite_average": group.composite,
        "metric_averages": {**group.means},
    }


def _json(document: dict[str, Json]) -> str:
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n"


def questions_and_answers(run: Run) -> str:
    """A log in Markdown: each case with its questions, the answers, and what the metrics said."""
    name = run.dataset.name if run.dataset else run.id
    lines = [
        f"# Questions and answers: {markdown_cell(name)}",
        "",
        f"Run {run.id}, {run.created_at}",
    ]
    for number, one in enumerate(run.cases, 1):
        lines += ["", f"## {number}. {markdown_cell(one.case or one.trace or '')}: {one.status}"]
        lines += [line for exchange in one.exchanges for line in _exchange(exchange)]
        lines += ["", *(_score(score) for score in one.scores)] if one.scores else []
        if one.status == "passed":
            lines += ["", "_The conversation of a case that passed is not kept with the run._"]
    return "\n".join(lines) + "\n"


def _exchange(one: Exchange) -> Iterator[str]:
    texts = {"Question": one.user, "Answer": one.actual}
    if one.expected is not None and one.expected != one.actual:
        texts["Expected"] = one.expected
    for title, text in texts.items():
        fence = _fence(text or "")
        yield from ("", f"**{title}**", "", fence)
        yield from printable(text if text is not None else "(not recorded)").splitlines()
        yield fence


def _fence(text: str) -> str:
    """Longer than any in the text, so that the text cannot end it."""
    longest = max((len(found) for found in _FENCES.findall(text)), default=2)
    return "`" * (longest + 1)


def _score(score: CaseScore) -> str:
    value = score.status if score.value is None else f"{score.value:.3g} ({score.status})"
    reason = f": {markdown_cell(shortened(score.reason, 1000))}" if score.reason else ""
    return f"- {markdown_cell(score.metric)} {value}{reason}"
