from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Any

import pytest

import carob
from carob import Case, Dataset
from carob.datasets.select import select_cases
from carob.schema import CaseCounts, CaseSelection, MetricSummary, Run, RunSummary

DATASET = Dataset(
    name="shop",
    version="1.2.0",
    cases=[
        Case.of("Open <today>?", "Until 6 pm.", id="hours", tags=["Shop", "happy-path"]),
        Case.of("My frame broke.", "It is covered.", id="frame", tags=["warranty"]),
    ],
)


def test_a_dataset_is_a_sequence_of_cases():
    assert len(DATASET) == 2
    assert [case.id for case in DATASET] == ["hours", "frame"]
    assert DATASET[-1] is DATASET["frame"]
    with pytest.raises(KeyError):
        DATASET["none"]
    assert Dataset(name="empty"), "a dataset without cases is still a dataset"


@pytest.mark.parametrize(
    ("case", "message"),
    [
        ("Open?", "expected a Case, got str"),
        (Case(id="a", tags="shop"), "case 'a': Expected `array`, got `str` - at `$.tags`"),  # pyright: ignore[reportArgumentType] - the mistake under test
    ],
)
def test_add_checks_types_at_once(case: Any, message: str):
    with pytest.raises(TypeError) as caught:
        DATASET.add(case)
    assert str(caught.value) == message


def test_tags_are_found_in_any_case():
    assert [case.id for case in DATASET.by_tag("shop")] == ["hours"]
    assert [case.id for case in select_cases(DATASET, CaseSelection(tags=("SHOP",)))] == ["hours"]


def test_a_dataset_prints_itself():
    assert repr(DATASET) == "<Dataset 'shop' 1.2.0: 2 cases (hours, frame)>"
    page = DATASET._repr_html_()  # pyright: ignore[reportPrivateUsage] - what a notebook calls
    assert "<td>Open &lt;today&gt;?</td><td>Until 6 pm.</td><td>Shop, happy-path</td>" in page


def test_a_case_prints_what_it_states(tmp_path: Path):
    case = Case.of("Open?", "Until 6 pm.", id="hours")
    text = "Case(id='hours', turns=(Turn(user='Open?', response='Until 6 pm.'),))"
    assert repr(case) == text
    carob.save(Dataset(name="shop", cases=[case]), tmp_path / "a.json", format="questions")
    assert "origin" not in repr(carob.load(tmp_path / "a.json")[0])


def test_a_case_of_another_type_is_refused_at_once():
    with pytest.raises(TypeError, match="expected the user message as a str, got int"):
        Case.of(3)  # pyright: ignore[reportArgumentType] - the mistake under test


def test_a_run_prints_itself():
    summary = RunSummary(
        cases=CaseCounts(total=3, passed=2, failed=1),
        metrics={"rouge_l": MetricSummary(mean=0.25, passed=2, failed=1)},
    )
    run = Run(
        id="run-1",
        created_at="2026-03-01T12:00:00Z",
        verdict="failed",
        dataset=None,
        metrics=(),
        cases=(),
        summary=summary,
    )
    assert repr(run) == "<Run run-1: failed (2 passed, 1 failed)>"
    page = run._repr_html_()  # pyright: ignore[reportPrivateUsage] - what a notebook calls
    assert "<td>rouge_l</td><td>0.25</td>" in page


def test_findings_of_the_linter_print_themselves(tmp_path: Path):
    case = Case.of("Who wrote it?", "Mail to ines.baum@gmail.com.")
    carob.save(Dataset(name="shop", cases=[case]), tmp_path / "a.json")
    (linted,) = carob.lint(tmp_path / "a.json", ignore=["C502"])
    assert repr(linted) == f"<LintedFile {tmp_path / 'a.json'}: 1 error>"
    page = linted._repr_html_()  # pyright: ignore[reportPrivateUsage] - what a notebook calls
    assert "<td>C101</td>" in page


def test_comparison_prints_itself():
    data = resources.files("carob") / "demo" / "data"
    golden, traces = str(data / "support.evalset.json"), data / "traces"
    runs = [
        carob.run(str(traces / f"{name}.otlp.jsonl"), golden=golden, metrics="rouge_l")
        for name in ("good", "regressed")
    ]
    assert [run.pass_rate for run in runs] == [pytest.approx(8 / 9), pytest.approx(5 / 9)]
    comparison = carob.compare(*runs)
    start = f"<Comparison {runs[0].id} → {runs[1].id}: {comparison.verdict} ("
    assert repr(comparison).startswith(start)
    page = comparison._repr_html_()  # pyright: ignore[reportPrivateUsage] - what a notebook calls
    assert "<td>rouge_l</td><td>8</td>" in page


def test_save_creates_folders_and_lint_reads_the_file(tmp_path: Path):
    path = tmp_path / "golden" / "new" / "shop.json"
    carob.save(DATASET, path)
    (linted,) = carob.lint(path)
    assert linted.path == str(path)
