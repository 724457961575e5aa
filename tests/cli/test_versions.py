from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from carob.cli import carob
from carob.errors import CarobError, RefusedError


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1767225600")
    return tmp_path


def golden(*answers: str, file: str = "support.json") -> Path:
    examples = [
        {"input": f"Question {number}?", "expectedOutput": text, "metadata": {"source": "tickets"}}
        for number, text in enumerate(answers)
    ]
    Path(file).write_text(json.dumps({"name": "support", "examples": examples}, indent=2))
    return Path(file)


def run(*args: object) -> Result:
    return CliRunner().invoke(carob, [str(arg) for arg in args])


def test_diff_prints_the_json_contract():
    old, new = golden("Yes."), golden("No.", "Yes.", file="new.json")
    result = run("diff", old, new, "--format", "json")
    document = json.loads(result.stdout)
    assert (result.exit_code, document["bump"]) == (0, "major")
    assert [list(change) for change in document["changes"]] == [
        ["case", "field", "kind", "level"]
    ] * 2
    assert list(document) == ["bump", "changes"]


@pytest.mark.parametrize(("answer", "code"), [("Yes.", 0), ("No.", 1)])
def test_diff_sets_the_exit_code_on_request(answer: str, code: int):
    old, new = golden("Yes."), golden(answer, file="new.json")
    assert run("diff", old, new, "--exit-code").exit_code == code


def test_diff_marks_words_without_color_outside_a_terminal():
    result = run("diff", golden("Yes."), golden("No.", file="new.json"))
    assert "[-Yes-]{+No+}." in result.stdout
    assert (
        "<del>Yes</del><ins>No</ins>."
        in run("diff", "support.json", "new.json", "--format", "md").stdout
    )


def test_release_is_listed_verified_and_checked_out():
    run("release", golden("Yes."), "--by", "Lena", "--for", "agent 1.0")
    result = run("release", golden("Yes.", "No."), "--format", "json")
    assert json.loads(result.stdout)["version"] == "1.1.0"
    listed = json.loads(run("versions", "--format", "json").stdout)["releases"]
    assert [(entry["version"], entry["for"]) for entry in listed] == [
        ("1.0.0", ["agent 1.0"]),
        ("1.1.0", []),
    ]
    head = listed[-1]["seal"]
    verified = run("versions", "--verify").stdout
    assert verified == f"2 releases verified, none changed\nhead of support 1.1.0: {head}\n"
    assert run("versions", "--head", head).exit_code == 0
    assert run("versions", "--head", "sha256:00").exit_code == 1
    assert run("checkout", "support@1.0.0", "old.json").exit_code == 0
    assert len(json.loads(Path("old.json").read_text())["examples"]) == 1


def test_unusable_dataset_is_not_released():
    case = '{"id": "q", "user_inputs": ["Hi"], "agents_evaluated": ["a"], "reference_data": {}}'
    Path("twice.json").write_text(f'{{"golden_questions": [{case}, {case}]}}')
    assert "duplicate case id 'q'" in str(run("release", "twice.json").exception)
    error = run("release", golden()).exception
    assert isinstance(error, RefusedError)
    assert str(error) == "support has no cases to release"
    assert not Path("golden").exists()


def test_changelog_lists_every_release():
    run("release", golden("Yes."))
    run(
        "release",
        golden("Yes.", "No."),
        "--note",
        "Added what people ask most",
        "--for",
        "agent 2.0",
    )
    assert run("versions", "support", "--format", "md").stdout == (
        "# support Changelog\n\n"
        "## v1.1.0 (2026-01-01)\n- Added what people ask most\n"
        '- Added 1 example ("Question 1?")\n- Examples: 1 → 2\n- For agent 2.0\n\n'
        "## v1.0.0 (2026-01-01)\n- Initial release\n- 1 example\n"
    )


def test_version_that_is_too_low_is_refused():
    run("release", golden("Yes."))
    error = run("release", golden("No."), "--bump", "minor").exception
    assert isinstance(error, RefusedError)
    assert "version 1.1.0 is too low: the changes since 1.0.0 are major" in str(error)
    assert "turns[0].response changed" in str(error)


def test_reason_and_missing_lint_are_shown_and_recorded():
    run("release", golden("Yes."))
    file = golden("Ask jo.baker@bikemail.net.")
    error = run("release", file, "--bump", "patch", "--because", "reworded").exception
    assert isinstance(error, RefusedError)
    assert "1 lint error in support.json" in str(error)
    result = run("release", file, "--bump", "patch", "--because", "reworded", "--no-lint")
    assert result.stdout.splitlines()[-2:] == ["  major changes: reworded", "  not linted"]
    (_, newest) = json.loads(run("versions", "--format", "json").stdout)["releases"]
    assert (newest["version"], newest["because"], newest["lint"]) == (
        "1.0.1",
        "reworded",
        "skipped",
    )


def test_drafts_are_refused_until_they_are_approved():
    file = golden("Yes.")
    error = run("release", file, "--require-approved").exception
    assert isinstance(error, RefusedError)
    assert "(draft)" in str(error)
    assert run("review", file, "--all", "--as", "approved", "--by", "Lena").exit_code == 0
    assert run("release", file, "--require-approved").exit_code == 0


def test_verify_exits_1_and_names_changed_releases():
    run("release", golden("Yes."))
    Path("golden/registry/support/1.0.0/support.json").unlink()
    result = run("versions", "--verify")
    assert result.exit_code == 1
    assert result.stdout == "golden/registry/support/1.0.0/support.json: was deleted\n"
    document = json.loads(run("versions", "--verify", "--format", "json").stdout)
    assert (document["valid"], len(document["problems"])) == (False, 1)


def test_verify_continues_after_an_unreadable_record():
    run("release", golden("Yes."))
    Path("golden/registry/support/1.0.0/release.json").write_text("{")
    result = run("versions", "--verify")
    assert result.exit_code == 1
    assert "release.json: was edited" in result.stdout


def test_review_shows_status_and_lineage():
    file = golden("Yes.", "No.")
    (first, _) = json.loads(run("review", file, "--format", "json").stdout)["cases"]
    run(
        "review",
        file,
        first["case"],
        "--as",
        "reviewed",
        "--by",
        "Lena Ortiz",
        "--date",
        "2026-02-01",
    )
    lines = run("review", file).stdout.splitlines()
    heads = ["#", "case", "status", "user message", "reviewed by", "on", "source"]
    assert re.split(r"  +", lines[0]) == heads
    cells = ["1", first["case"], "reviewed", first["user"], "Lena Ortiz", "2026-02-01", "tickets"]
    assert re.split(r"  +", lines[1]) == cells
    assert "draft" in lines[2]


def test_review_takes_positions_and_texts_and_shows_earlier_reviewers():
    file = golden("Yes.", "No.")
    run("review", file, "2", "--as", "reviewed", "--by", "Lena Ortiz")
    result = run("review", file, "question 1", "--as", "approved", "--by", "Sam")
    cells = re.split(r"  +", result.stdout.splitlines()[1])
    assert (cells[0], cells[2]) == ("2", "approved")
    assert cells[4:] == ["Sam", "2026-01-01", "Lena Ortiz", "tickets"]
    assert "unknown case 'refunds'" in str(run("review", file, "refunds").exception)


@pytest.mark.parametrize(
    "words",
    [
        ["review", "support.json", "--as", "approved"],
        ["review", "support.json", "--as", "approved", "--by", "Lena"],
        ["release", "support.json", "--bump", "major", "--version", "2.0.0"],
        ["versions", "--format", "md"],
        ["checkout", "nobody@1.0.0"],
        ["diff", "nobody@1.0.0", "support.json"],
    ],
)
def test_invalid_requests_are_errors(words: list[str]):
    golden("Yes.")
    result = run(*words)
    assert result.exit_code == 2 or isinstance(result.exception, CarobError)


def test_verifying_no_releases_is_an_error():
    run("release", golden("Yes."))
    for args in (("--registry", "golden/registri"), ("suport",)):
        error = run("versions", "--verify", *args).exception
        assert isinstance(error, CarobError)


def test_release_is_summarised_like_a_file():
    run("release", golden("Yes."))
    assert json.loads(run("show", "support@1", "--format", "json").stdout)["version"] == "1.0.0"
