from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from carob.cli import carob
from carob.datasets.lint import privacy, typos
from carob.errors import CarobError, install_hint

KEY = "ghp_" + "a1B2" * 9
EXAMPLES = {
    "name": "Bike shop",
    "examples": [
        {"input": f"My key is {KEY}, is it safe?", "expectedOutput": "No."},
        {"input": "When are you open?", "expectedOutput": "Always."},
    ],
}


@pytest.fixture
def golden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    pytest.importorskip("detect_secrets")
    monkeypatch.chdir(tmp_path)
    path = Path("golden.json")
    path.write_text(json.dumps(EXAMPLES, indent=2))
    return path


def run(*args: object) -> Result:
    return CliRunner().invoke(carob, ["lint", *(str(arg) for arg in args)])


def failure(*args: object) -> CarobError:
    error = run(*args).exception
    assert isinstance(error, CarobError)
    return error


def test_findings_are_grouped_by_file_with_line_and_case(golden: Path):
    result = run(golden)
    assert result.exit_code == 1
    first, second, *_ = result.stdout.splitlines()
    assert first == "golden.json: 1 error (examples, 2 cases)"
    assert second.startswith("  error: line 5 $.examples[0].input: case 'case-")
    assert second.endswith("': secret 'gh…B2' [C106 secret]")


def test_json_is_the_contract(golden: Path):
    result = run(golden, "--format", "json", "--use", "development")
    (file,) = json.loads(result.stdout)["files"]
    (finding,) = [item for item in file["findings"] if item["rule"] == "C106"]
    assert file["path"] == "golden.json"
    assert finding.keys() >= {"rule", "level", "case", "where", "message", "hint"}
    assert (finding["offset"], finding["length"], finding["line"]) == (10, len(KEY), 5)
    assert "offset" not in file["findings"][-1]


def test_sarif_has_the_line_and_a_mark_that_survives_a_moved_line(golden: Path):
    before = json.loads(run(golden, "--format", "sarif").stdout)["runs"][0]
    golden.write_text("\n\n" + golden.read_text())
    after = json.loads(run(golden, "--format", "sarif").stdout)["runs"][0]
    (first, second) = (log["results"][0] for log in (before, after))
    location = first["locations"][0]["physicalLocation"]
    assert location == {"artifactLocation": {"uri": "golden.json"}, "region": {"startLine": 5}}
    assert first["partialFingerprints"] == second["partialFingerprints"]
    assert before["tool"]["driver"]["rules"][first["ruleIndex"]]["id"] == first["ruleId"] == "C106"


@pytest.mark.parametrize("form", ["text", "json", "sarif"])
def test_secret_is_never_printed(golden: Path, form: str):
    assert KEY[:12] not in run(golden, "--format", form).output


def test_fix_masks_the_file(golden: Path):
    result = run(golden, "--fix")
    assert result.exit_code == 0
    assert "1 text masked" in result.stdout
    assert golden.read_text() == json.dumps(EXAMPLES, indent=2).replace(KEY, "<secret-1>")


def test_warnings_fail_only_if_strict(golden: Path):
    flags = (golden, "--ignore", "secret", "--use", "regression")
    assert run(*flags).exit_code == 0
    assert run(*flags, "--strict").exit_code == 1


def test_file_that_cannot_be_read_is_an_error(golden: Path):
    assert str(failure("missing.json")) == "missing.json: no such file"


def test_unknown_rule_is_an_error_with_the_nearest(golden: Path):
    error = failure(golden, "--ignore", "duplicat")
    assert (str(error), error.hint) == ("unknown lint rule 'duplicat'", "did you mean 'duplicate'?")


def test_config_suppresses_rules_and_sets_levels(golden: Path):
    text = '[lint]\nuse = "development"\n[lint.levels]\nC106 = "note"\nunfit-size = "error"\n'
    Path("carob.toml").write_text(text)
    findings = json.loads(run(golden, "--format", "json").stdout)["files"][0]["findings"]
    assert {finding["rule"]: finding["level"] for finding in findings} == {
        "C106": "note",
        "C502": "note",
        "C503": "error",
    }


def test_config_suppresses_rules_per_file(golden: Path):
    Path("carob.toml").write_text('[lint.per_file_ignores]\n"gold*.json" = ["C106"]\n')
    Path("other.json").write_text(golden.read_text())
    files = json.loads(run(golden, "other.json", "--format", "json").stdout)["files"]
    assert ["C106" in {finding["rule"] for finding in file["findings"]} for file in files] == [
        False,
        True,
    ]


def test_config_names_the_tags_and_the_region_of_phone_numbers(golden: Path):
    example = {
        "input": "Please call me at 06131 123456.",
        "expectedOutput": "Yes.",
        "tags": ["vip"],
    }
    golden.write_text(json.dumps({"name": "n", "examples": [example]}))
    Path("carob.toml").write_text('[lint]\ntags = ["orders"]\nregion = "DE"\n')
    findings = json.loads(run(golden, "--format", "json").stdout)["files"][0]["findings"]
    assert {"C102", "C402"} <= {finding["rule"] for finding in findings}
    run(golden, "--fix")
    assert "call me at <phone-1>." in golden.read_text()


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        (
            '[lint]\nignore = ["secrte"]',
            "carob.toml, lint.ignore: unknown lint rule 'secrte'",
            "'secret'",
        ),
        ('[lint.levels]\nC106 = "warn"', "lint.levels.C106: invalid value 'warn'", "'warning'"),
        ('[lint]\nuse = "production!"', "lint.use: invalid value 'production!'", "'production'"),
        ('[lint]\nignor = ["C106"]', "unknown key 'ignor'", "'ignore'"),
        ('[lint]\nregion = "Germany"', "invalid country code 'Germany'", "such as DE"),
    ],
)
def test_mistake_in_the_config_is_named(golden: Path, text: str, message: str, hint: str):
    Path("carob.toml").write_text(text)
    error = failure(golden)
    assert message in str(error)
    assert hint in (error.hint or "")


def test_missing_packages_are_one_line_for_all_files(golden: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(privacy, "missing_packages", lambda: {"phone": "phonenumbers"})
    monkeypatch.setattr(typos, "misspellings", dict[str, str])
    clean = {**EXAMPLES, "examples": EXAMPLES["examples"][1:]}
    for name in ("a.json", "b.json"):
        Path(name).write_text(json.dumps(clean))
    result = run("a.json", "b.json")
    assert result.exit_code == 0
    *files, warning, hint = result.stdout.splitlines()
    assert files == [f"{name}.json: no findings (examples, 1 case)" for name in "ab"]
    assert warning == (
        "warning: phone number not checked (phonenumbers not installed); typos not checked"
        " (codespell not installed) [C001 not-checked]"
    )
    assert hint == f"  hint: {install_hint('pii', 'typos')}"
    log = json.loads(run("a.json", "b.json", "--format", "sarif").stdout)
    assert len(log["runs"][0]["results"]) == 2
    assert run("a.json", "--strict").exit_code == 1
    assert "not checked" not in run("a.json", "--ignore", "not-checked").stdout
