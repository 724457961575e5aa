"""The tools. Each is one call of `carob.api`, with an answer that fits into a context window.

Files are named by paths below the project folder; runs and releases by their names in the store and
in the registry. The tools that write do so only if told to; otherwise they show what would change.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, NamedTuple

import msgspec
from pydantic import Field

from carob.api import compare as comparing
from carob.api.datasets import summarise, validate
from carob.api.history import list_runs, stored_document, stored_run
from carob.api.lint import lint
from carob.api.load import is_reference, load
from carob.api.metrics import is_rubric_file, metrics
from carob.api.run_request import RunRequest
from carob.api.runs import evaluate
from carob.api.traces import add_cases, capture, list_traces
from carob.api.versions import diff
from carob.api.views.case import view_case
from carob.api.views.run import view_rows
from carob.api.views.run_index import CaseFilter
from carob.errors import UsageError
from carob.mcp.answers import (
    PAGE,
    Answer,
    cut_text,
    describe_problems,
    describe_result,
    describe_run,
    to_json,
    to_object,
)
from carob.schema import Case, CaseResult, Run, Turn
from carob.schema.trace import ToolCall

Cursor = Annotated[int, Field(ge=0)]
"""The `next` of an earlier answer."""
_WRITE_HINT = "nothing was written; call again with write=true"


class RunTools(NamedTuple):
    """Tools that name runs and metrics only. They open no file that a caller names."""

    store: str | None = None

    def runs(self, limit: int = 10) -> Answer:
        """List the newest runs: id, verdict, dataset, numbers of cases. Start here to find a run
        to look at or to compare with."""
        entries = list_runs(store=self.store, limit=min(max(limit, 1), 50))
        return {"runs": [to_json(entry) for entry in entries.runs]}

    def failures(self, run: str, after: Cursor = 0) -> Answer:
        """Show the cases of a run that did not pass, worst first, each with its reason and the
        turns that differ. `run` is an id, `latest`, or `latest~1`. Pass `next` as `after` for
        more."""
        document, results = self._failures(run, after)
        return describe_run(document, results, after)

    def case(self, run: str, case: str) -> Answer:
        """Show one case of a run: every score with its reason, and per turn what was expected and
        what the agent did, tool calls included if the run kept its traces."""
        view = view_case(run, case, store=self.store)
        line = view.attempts[view.attempt - 1]
        return {
            **describe_result(line.result),
            "run": view.run.id,
            "recent_verdicts": list(line.recent),
            "scores": [to_json(score) for score in line.result.scores],
            "turns": [
                {
                    "expected": to_json(turn.expected, 1000),
                    "actual": to_json(turn.actual, 1000),
                    "edit_script": to_json(turn.script),
                }
                for turn in view.turns[:10]
            ]
            or [to_json(exchange, 1000) for exchange in line.result.exchanges[:10]],
        }

    def compare(self, before: str, after: str) -> Answer:
        """Compare two runs statistically: did the agent regress, improve, or stay equivalent, and
        which cases flipped. Runs are ids, `latest` or `latest~1`."""
        # Stored runs only: a name such as `runs/a.json` must not be opened.
        runs = [stored_run(name, store=self.store) for name in (before, after)]
        return {**to_object(comparing.compare(*runs, store=self.store))}

    def gate(
        self, run: str, baseline: str | None = None, min_pass_rate: float | None = None
    ) -> Answer:
        """Decide whether a run may be merged, by the rules of carob.toml and those named here."""
        rules = comparing.gate_rules(min_pass_rate=min_pass_rate)
        before = stored_run(baseline, store=self.store) if baseline else None
        after = stored_run(run, store=self.store)
        result = comparing.gate(after, rules, baseline=before, store=self.store)
        return {
            "passed": result.passed,
            "run": result.run,
            "baseline": result.baseline,
            "checks": to_json(result.checks),
            **describe_problems(result.problems),
        }

    def metrics(self, name: str | None = None, judged: bool | None = None) -> Answer:
        """List the metrics, or describe one with its parameters."""
        if name is not None:
            return {"metrics": [to_json(metric, 1500) for metric in metrics([name])]}
        return {
            "metrics": [
                {
                    "name": metric.name,
                    "meaning": metric.meaning,
                    "needs": metric.needs,
                    "threshold": metric.threshold,
                    "judged": metric.judged,
                }
                for metric in metrics(judged=judged)
            ]
        }

    def read_run(self, run: str) -> str:
        """Return the whole document of a run."""
        return stored_document(run, store=self.store).decode()

    def _failures(self, run: str, after: int) -> tuple[Run, list[CaseResult]]:
        view = view_rows(run, CaseFilter(), start=after, limit=PAGE, store=self.store)
        bad = ("failed", "error", "unscored")
        return view.run, [line.result for line in view.lines if line.result.status in bad]


class FileTools(NamedTuple):
    """Tools that read and write files below a folder."""

    root: Path
    store: str | None = None

    def validate(self, paths: list[str], after: Cursor = 0) -> Answer:
        """Check golden files of any format. Every problem has its location, what was found, what
        was expected and a hint."""
        files = validate([self._path(path) for path in paths])
        page = files[after : after + PAGE]
        return {
            "valid": all(file.valid for file in files),
            "files": [
                {
                    "path": file.path,
                    "format": file.format,
                    "valid": file.valid,
                    "cases": file.cases,
                    **describe_problems(file.problems),
                }
                for file in page
            ],
            "next": after + PAGE if after + PAGE < len(files) else None,
        }

    def show(self, path: str, after: Cursor = 0) -> Answer:
        """Summarise a golden dataset (a file, or NAME@VERSION) and list some of its cases."""
        source = self._golden(path)
        cases = load(source).cases
        page = cases[after : after + PAGE]
        return {
            **to_object(summarise(source)),
            "cases": [_show_case(case) for case in page],
            "next": after + PAGE if after + PAGE < len(cases) else None,
        }

    def traces(self, paths: list[str], after: Cursor = 0) -> Answer:
        """Show what was understood from trace files of any framework: turns, tool calls, results,
        usage; and which metrics the traces cannot support, with the reason."""
        listing = list_traces([self._path(path) for path in paths])
        page = listing.traces[after : after + PAGE]
        return {
            "total": len(listing.traces),
            "traces": [
                {
                    "id": entry.trace.id,
                    "agents": entry.trace.agents,
                    "turns": [to_json(turn) for turn in entry.trace.turns[:5]],
                    "unsupported": {
                        name: why for name, why in entry.supports.items() if why is not None
                    },
                }
                for entry in page
            ],
            **describe_problems(listing.problems),
            "next": after + PAGE if after + PAGE < len(listing.traces) else None,
        }

    def run(
        self,
        golden: str,
        traces: list[str] | None = None,
        metrics: list[str] | None = None,
        tags: list[str] | None = None,
        where: str | None = None,
        limit: int | None = None,
    ) -> Answer:
        """Score traces against golden data and save the run; without traces, score the answers
        that the golden data carries. Without metrics, those that the data asks for are used.
        Answers the verdict, the numbers, and the first cases that did not pass."""
        request = RunRequest(
            traces=[self._path(path) for path in traces or ()],
            golden=self._golden(golden),
            metrics=[self._metric(name) for name in metrics or ()],
            tags=tags or (),
            where=where,
            limit=limit,
            store=self.store,
            keep_traces=True,
        )
        run = evaluate(request).run
        order = {"failed": 0, "error": 1, "unscored": 2}
        bad = sorted(
            (result for result in run.cases if result.status in order),
            key=lambda result: order[result.status],
        )
        return describe_run(run, bad[:PAGE], 0)

    def capture(
        self, traces: list[str], golden: str, to: str | None = None, write: bool = False
    ) -> Answer:
        """Turn traces into golden cases, added to the golden file. Without `write`, only shows the
        changes. `to` is the format of a new file, such as adk, questions or examples."""
        sources, file = [self._path(path) for path in traces], self._path(golden)
        with TemporaryDirectory(prefix="carob-") as folder:
            copy = _copy_dataset(file, Path(folder))
            report = capture(sources, copy, to=to, append=copy.exists(), mask=True)
            changes = _describe_changes(file, copy)
        if write:
            report = capture(sources, file, to=to, append=file.exists(), mask=True)
        return {
            "written": write,
            "format": report.format,
            "added": report.cases,
            "duplicates": len(report.duplicates),
            **changes,
            **describe_problems(report.problems),
            **({} if write else {"hint": _WRITE_HINT}),
        }

    def add_case(
        self,
        golden: str,
        user: str,
        response: str | None = None,
        tool_calls: list[dict[str, Any]] | None = None,
        context: str | None = None,
        tags: list[str] | None = None,
        id: str | None = None,
        format: str | None = None,
        write: bool = False,
    ) -> Answer:
        """Add one golden case: what the user says, the expected response, and the expected tool
        calls as {"name", "args"}. Without `write`, only shows the case and what the linter says.
        `format` is that of a new file, such as adk, questions or examples."""
        file = self._path(golden)
        case = Case.of(user, response, id=id, context=context, tags=tags or ())
        if tool_calls is not None:
            calls = tuple(_tool_call(call) for call in tool_calls)
            case = Case(
                id=case.id,
                turns=(Turn(user=user, response=response, tool_calls=calls),),
                context=context,
                tags=case.tags,
            )
        with TemporaryDirectory(prefix="carob-") as folder:
            copy = _copy_dataset(file, Path(folder))
            added = add_cases([case], copy, format=format)
            findings = [item for item in lint(copy)[0].findings if item.case == case.id]
        if write:
            added = add_cases([case], file, format=format)
        return {
            "written": write and bool(added),
            "duplicate": not added,
            "case": _show_case(added[0] if added else case),
            "lint": to_json(findings),
            **({} if write else {"hint": _WRITE_HINT}),
        }

    def read_dataset(self, name: str) -> str:
        """Return a released version of a dataset as its file."""
        if not is_reference(name):  # a file is read with `show`, below the project folder
            raise UsageError(f"{name!r} is no release", hint="expected NAME@VERSION")
        return msgspec.json.encode(load(name)).decode()

    def _golden(self, name: str) -> str | Path:
        return name if is_reference(name) else self._path(name)

    def _metric(self, name: str) -> str:
        """Return the name of a metric; a rubric is a file of the project as well."""
        return str(self._path(name)) if is_rubric_file(name) else name

    def _path(self, name: str) -> Path:
        """Return the path of a file below the project folder."""
        try:
            path = (self.root / name).resolve()
        except (OSError, RuntimeError, ValueError) as error:  # a loop of links, or with a NUL
            raise UsageError(f"{name!r} cannot be a file: {error}") from error
        if not path.is_relative_to(self.root.resolve()):
            hint = "pass a path relative to the project folder"
            raise UsageError(f"{name!r} is outside of the project folder", hint=hint)
        return path


def _show_case(case: Case) -> Answer:
    return {
        "id": case.id,
        "turns": [
            {
                "user": cut_text(turn.user),
                "response": cut_text(turn.response),
                "tool_calls": to_json(turn.tool_calls),
            }
            for turn in case.turns[:5]
        ],
        "tags": list(case.tags),
    }


def _tool_call(call: dict[str, Any]) -> ToolCall:
    unknown = {*call} - {"name", "args"}
    if unknown or not isinstance(call.get("name"), str):
        raise UsageError(f"expected a tool call with 'name' and 'args', got {call!r}")
    return ToolCall(name=call["name"], args=call.get("args"))


def _copy_dataset(file: Path, folder: Path) -> Path:
    """Copy a golden file with its sidecar, if they exist. Returns the path of the copy."""
    for source in file.parent.glob(f"{file.name}*") if file.parent.is_dir() else ():
        if source.name in (file.name, f"{file.name}.carob.json"):
            shutil.copy2(source, folder / source.name)
    return folder / file.name


def _describe_changes(old: Path, new: Path) -> Answer:
    cases: Sequence[Case] = load(new).cases
    if not old.exists():
        return {"cases": [_show_case(case) for case in cases[:PAGE]], "total": len(cases)}
    known = {case.id for case in load(old).cases}
    added = [case for case in cases if case.id not in known]
    return {
        "bump": diff(old, new).bump,
        "cases": [_show_case(case) for case in added[:PAGE]],
        "total": len(cases),
    }
