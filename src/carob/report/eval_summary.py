"""Reports for existing tools: `eval_summary.json`, a question-and-answer log, agent averages."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from itertools import groupby

import msgspec

from carob.report import format_json, format_json_list
from carob.report.forms import ReportInputs
from carob.report.run import attempt_facts, headline, metrics_without_scores
from carob.report.text import markdown_cell, printable, shortened
from carob.schema import CaseResult, CaseScore, Exchange, Json, SummaryGroup

_NOT_STORED = "The conversation is stored with the run only for cases that did not pass."
_FENCES = re.compile("`{3,}")


def format_eval_summary(inputs: ReportInputs) -> Iterator[str]:
    """Yield `eval_summary.json`: means over all cases, and the scores of each question.

    Metrics scored by a judge are listed separately, with their explanations.
    """
    run = inputs.run
    judged = {metric.name for metric in inputs.load_metrics() if metric.judged}
    judged |= {use.name for use in run.metrics if use.judge}
    means = {name: summary.mean for name, summary in run.summary.metrics.items()}
    encode = msgspec.json.Encoder().encode
    document: dict[str, object] = {
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
        **({"repeated_attempts": run.summary.attempts} if run.summary.attempts else {}),
        "per_question_summary": [],
    }
    questions = (
        encode(_question(id, [*results], judged))
        for id, results in groupby(run.cases, _question_id)
    )
    return format_json_list(encode(document), "per_question_summary", questions)


def _question_id(result: CaseResult) -> str:
    """Return what results are grouped by; those of one case are next to each other in a run."""
    return result.case or result.trace or ""


def _question(id: str, results: list[CaseResult], judged: Collection[str]) -> dict[str, Json]:
    """Return the means over all attempts at a question."""
    scores = [score for result in results for score in result.scores]
    names = dict.fromkeys(score.metric for score in scores)
    by_name = {name: [score for score in scores if score.metric == name] for name in names}
    return {
        "question_id": id,
        "runs": len(results),
        "passed": sum(result.status == "passed" for result in results),
        "deterministic_metrics": {k: _mean(v) for k, v in by_name.items() if k not in judged},
        "llm_based_metrics": {
            k: {"score": _mean(v), "explanation": _explanation(v)}
            for k, v in by_name.items()
            if k in judged
        },
    }


def _explanation(scores: list[CaseScore]) -> str:
    return "\n".join(score.reason for score in scores if score.reason)


def _mean(scores: list[CaseScore]) -> float | None:
    values = [score.value for score in scores if score.value is not None]
    return sum(values) / len(values) if values else None


def format_agents(inputs: ReportInputs) -> str:
    """Return the cases, the pass rate and the averages of each agent."""
    run = inputs.run
    groups = [group for group in run.summary.groups if group.by == "agent"]
    attempts = {"repeated_attempts": run.summary.attempts} if run.summary.attempts else {}
    agents = [_agent(group) for group in groups]
    return format_json({"run": run.id, **attempts, "agents": agents})


def _agent(group: SummaryGroup) -> dict[str, Json]:
    counts = group.cases
    decided = counts.passed + counts.failed + counts.unscored + counts.errors
    return {
        "agent": group.value,
        "cases": group.cases.total,
        "passed": group.cases.passed,
        "pass_rate": group.cases.passed / decided if decided else None,
        "composite_average": group.composite,
        "metric_averages": {**group.means},
    }


def format_questions_and_answers(inputs: ReportInputs) -> Iterator[str]:
    """Yield a Markdown log: each case with its questions, answers and scores."""
    run = inputs.run
    name = run.dataset.name if run.dataset else run.id
    head = [
        f"# Questions and answers: {markdown_cell(name)}",
        "",
        f"{run.verdict}: {markdown_cell(headline(run))}, {run.created_at}",
        *(f"- {markdown_cell(metric.text)}" for metric in metrics_without_scores(run)),
        *(f"- {markdown_cell(f'{name}: {fact}')}" for name, fact in attempt_facts(run).items()),
    ]
    yield "".join(f"{line}\n" for line in head)
    for number, result in enumerate(run.cases, 1):
        lines = [
            "",
            f"## {number}. {markdown_cell(result.case or result.trace or '')}: {result.status}",
        ]
        lines += [line for exchange in result.exchanges for line in _exchange(exchange)]
        lines += ["", *(_score(score) for score in result.scores)] if result.scores else []
        if result.status in ("passed", "info"):
            lines += ["", f"_{_NOT_STORED}_"]
        yield "".join(f"{line}\n" for line in lines)


def _exchange(exchange: Exchange) -> Iterator[str]:
    texts = {"Question": exchange.user, "Answer": exchange.actual}
    if exchange.expected is not None and exchange.expected != exchange.actual:
        texts["Expected"] = exchange.expected
    for title, text in texts.items():
        fence = _fence(text or "")
        yield from ("", f"**{title}**", "", fence)
        yield from printable(text if text is not None else "(not recorded)").splitlines()
        yield fence


def _fence(text: str) -> str:
    """Return a fence longer than any in the text, so that the text cannot close it."""
    longest = max((len(fence) for fence in _FENCES.findall(text)), default=2)
    return "`" * (longest + 1)


def _score(score: CaseScore) -> str:
    value = score.status if score.value is None else f"{score.value:.3g} ({score.status})"
    reason = f": {markdown_cell(shortened(score.reason, 1000))}" if score.reason else ""
    return f"- {markdown_cell(score.metric)} {value}{reason}"
