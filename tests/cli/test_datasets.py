from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from carob.api.load import load
from carob.cli import carob
from carob.cli.output import show_error
from carob.errors import CarobError
from carob.files.stdin import stdin_file

EXAMPLES = {
    "name": "Bike shop",
    "version": "1.0.0",
    "examples": [
        {
            "input": "Do you repair e-bikes?",
            "expectedOutput": "Yes, all brands.",
            "context": "Services",
            "tags": ["repair", "happy-path"],
            "metadata": {"criticality": "high"},
        },
        {
            "input": "Is my frame covered?",
            "expectedOutput": "For five years.",
            "tags": ["warranty"],
        },
    ],
}


@pytest.fixture
def golden(tmp_path: Path) -> Path:
    path = tmp_path / "golden.json"
    path.write_text(json.dumps(EXAMPLES))
    return path


def run(*args: object) -> Result:
    result = CliRunner().invoke(carob, [str(arg) for arg in args])
    if isinstance(result.exception, CarobError):
        show_error(result.exception)
    return result


def test_validate_prints_the_json_contract(golden: Path):
    result = run("validate", golden, "--format", "json")
    assert result.exit_code == 0
    assert json.loads(result.stdout) == {
        "files": [
            {"path": str(golden), "format": "examples", "valid": True, "cases": 2, "problems": []}
        ]
    }


def test_validate_exits_1_and_names_the_location(golden: Path):
    golden.write_text(golden.read_text().replace("expectedOutput", "expectedOuput"))
    result = run("validate", golden)
    assert result.exit_code == 1
    assert "$.examples[0].expectedOuput" in result.stdout
    assert "did you mean 'expectedOutput'?" in result.stdout


def test_show_counts_the_parts_of_a_dataset(golden: Path):
    summary = json.loads(run("show", golden, "--format", "json").stdout)
    assert summary["cases"] == 2
    assert summary["with_context"] == 1
    assert summary["tags"] == {"happy-path": 1, "repair": 1, "warranty": 1}


def test_show_starts_with_version_description_and_tags(golden: Path):
    document = json.loads(golden.read_text())
    document |= {"version": "1.2.0", "description": "Repairs.", "tags": ["production", "shop"]}
    golden.write_text(json.dumps(document))
    title, description, tags, *_ = run("show", golden).stdout.splitlines()
    assert title.endswith(" 1.2.0")
    assert description.split() == ["description", "Repairs."]
    assert tags.split() == ["dataset", "tags", "production,", "shop"]


def test_subset_by_tag_and_expression(golden: Path):
    dst = golden.with_name("part.json")
    result = run("subset", golden, dst, "--tag", "repair", "--where", "len(turns) == 1")
    assert result.exit_code == 0
    assert [item["input"] for item in json.loads(dst.read_text())["examples"]] == [
        "Do you repair e-bikes?"
    ]


def test_empty_subset_is_an_error_and_writes_nothing(golden: Path):
    dst = golden.with_name("part.json")
    result = run("subset", golden, dst, "--tag", "repairs")
    assert isinstance(result.exception, CarobError)
    assert "the tags are happy-path, repair, warranty" in str(result.exception.hint)
    assert "metadata.criticality" in str(result.exception.hint)
    assert not dst.exists()


def test_convert_reports_losses_case_by_case(golden: Path):
    dst = golden.with_name("golden.csv")
    report = json.loads(run("convert", golden, dst, "--to", "csv", "--format", "json").stdout)
    assert report["from"] == "examples"
    assert report["to"] == "csv"
    assert report["cases"] == 2
    assert report["carried"] is True
    fields = {(loss["case"] is None, loss["field"]) for loss in report["losses"]}
    assert fields == {(True, "name"), (True, "version"), (False, "metadata")}


def test_converting_back_restores_the_source(golden: Path):
    csv, back = golden.with_name("golden.csv"), golden.with_name("back.json")
    run("convert", golden, csv, "--to", "csv")
    run("convert", csv, back, "--to", "examples")
    assert json.loads(back.read_text()) == EXAMPLES


def test_strict_exits_1_and_writes_nothing(golden: Path):
    dst = golden.with_name("golden.csv")
    result = run("convert", golden, dst, "--to", "csv", "--strict", "--format", "json")
    assert result.exit_code == 1
    assert len(json.loads(result.stdout)["losses"]) == 3
    assert not dst.exists()


def test_dropped_fields_stay_dropped(golden: Path):
    csv, back = golden.with_name("golden.csv"), golden.with_name("back.json")
    run("convert", golden, csv, "--to", "csv", "--drop")
    run("convert", csv, back, "--to", "examples")
    assert json.loads(back.read_text())["name"] == "golden"
    assert not csv.with_name("golden.csv.carob.json").exists()


def test_unknown_format_is_an_error_that_lists_the_formats(golden: Path):
    result = run("convert", golden, golden.with_name("x"), "--to", "yaml")
    assert isinstance(result.exception, CarobError)
    assert "expected one of: adk, " in str(result.exception.hint)


def test_misspelled_command_suggests_the_closest_one():
    result = run("valdate")
    assert result.exit_code == 2
    assert "did you mean 'validate'?" in result.stderr


def test_file_that_cannot_be_read_is_exit_code_2_and_the_others_are_checked(tmp_path: Path):
    (tmp_path / "good.csv").write_text("Input,ExpectedOutput\na,b\n")
    result = CliRunner().invoke(carob, ["validate", "missing", str(tmp_path / "good.csv")])
    assert result.exit_code == 2
    assert "error: no such file" in result.stdout
    assert "good.csv: valid (csv, 1 case)" in result.stdout


@pytest.mark.parametrize(
    ("content", "hint"),
    [
        (
            '{"resourceSpans": [{"scopeSpans": [{"spans": [{"spanId": "1"}]}]}]}',
            "this is a trace file",
        ),
        ("Input|ExpectedOutput\na|b\n", "its columns are separated by '|', expected ','"),
    ],
)
def test_other_kinds_of_files_are_named_in_the_error(tmp_path: Path, content: str, hint: str):
    file = tmp_path / "file"
    file.write_text(content)
    error = CliRunner().invoke(carob, ["show", str(file)]).exception
    assert isinstance(error, CarobError)
    assert hint in (error.hint or "")


def test_misspelled_format_gets_a_suggestion():
    error = CliRunner().invoke(carob, ["convert", "a.csv", "b.json", "--to", "question"]).exception
    assert isinstance(error, CarobError)
    assert error.hint == "did you mean 'questions'?"


def test_dataset_without_cases_is_valid_with_a_warning(tmp_path: Path):
    (tmp_path / "empty.csv").write_text("Input,ExpectedOutput\n")
    result = CliRunner().invoke(carob, ["validate", str(tmp_path / "empty.csv")])
    assert (result.exit_code, "warning: " in result.stdout) == (0, True)


@pytest.mark.parametrize(
    "args",
    [
        ("convert", "GOLDEN", "DST", "--to", "csv"),
        ("subset", "GOLDEN", "DST", "--limit", "1"),
        ("schema", "adk", "-o", "DST"),
    ],
)
def test_no_file_is_overwritten_unless_forced(golden: Path, args: tuple[str, ...]):
    dst = golden.with_name("mine.json")
    dst.write_text("mine")
    paths = {"GOLDEN": golden, "DST": dst}
    call = [str(paths.get(arg, arg)) for arg in args]
    error = run(*call).exception
    assert isinstance(error, CarobError)
    assert str(error) == f"{dst} already exists and differs"
    assert error.hint == "pass --force to overwrite"
    assert dst.read_text() == "mine"
    assert run(*call, "--force").exit_code == 0
    assert run(*call).exit_code == 0, "writing the same bytes again is not overwriting"


MORE = "Input,ExpectedOutput\nDo you repair e-bikes?,Only Bosch motors.\nDo you sell locks?,Yes.\n"


@pytest.mark.parametrize("form", ["examples", "questions", "adk", "csv", "explain"])
def test_convert_appends_after_the_cases_of_the_file(golden: Path, form: str):
    more, target = golden.with_name("more.csv"), golden.with_name("target")
    more.write_text(MORE)
    run("convert", golden, target, "--to", form)
    before = load(target)
    for losses in (2, 0):  # the second time, all cases are known
        result = run("convert", more, target, "--append", "--format", "json")
        assert len(json.loads(result.stdout)["duplicates"]) == 2 - losses
        dataset = load(target)
        assert [*dataset.cases][:2] == [*before.cases]
        assert [case.turns[0].response for case in dataset][2:] == ["Only Bosch motors.", "Yes."]
        assert len({case.id for case in dataset}) == 4
    run("convert", target, golden.with_name("back.json"), "--to", "examples")
    assert (
        json.loads(golden.with_name("back.json").read_text())["examples"][:2]
        == (EXAMPLES["examples"])
    )


def test_convert_appends_only_in_the_format_of_the_file(golden: Path):
    more = golden.with_name("more.csv")
    more.write_text(MORE)
    content = golden.read_text()
    result = run("convert", more, golden, "--to", "adk", "--append")
    assert str(result.exception) == f"{golden} has the format examples, cannot append adk"
    result = run("convert", more, golden, "--append", "--force")
    assert "--append and --force cannot be combined" in result.output
    result = run("convert", more, golden)
    assert str(result.exception) == "missing option --to"
    assert golden.read_text() == content


def test_sidecar_file_is_not_overwritten_either(golden: Path):
    csv = golden.with_name("golden.csv")
    run("convert", golden, csv, "--to", "csv")
    sidecar = golden.with_name("golden.csv.carob.json")
    sidecar.write_text("{}")
    error = run("convert", golden, csv, "--to", "csv").exception
    assert str(error) == f"{sidecar} already exists and differs"


def test_subset_by_id_and_number(golden: Path):
    dst = golden.with_name("part.json")
    assert run("subset", golden, dst, "--limit", "1").exit_code == 0
    (example,) = json.loads(dst.read_text())["examples"]
    dst.unlink()
    (id, _) = [case.id for case in load(golden).cases]
    assert run("subset", golden, dst, "--case", id).exit_code == 0
    assert json.loads(dst.read_text())["examples"] == [example]


def test_subset_requires_a_condition(golden: Path):
    result = run("subset", golden, golden.with_name("part.json"))
    assert result.exit_code == 2
    assert "pass --tag, --where, --case or --limit" in result.stderr


def test_validate_knows_the_profiles_of_the_config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    row = {"case_id": "a-001", "question": "Open?", "threshold_profile": "mine"}
    Path("rows.jsonl").write_text(json.dumps(row) + "\n")
    result = run("validate", "rows.jsonl")
    assert result.exit_code == 0
    assert "warning: line 1 $.threshold_profile: unknown profile 'mine'" in result.stdout
    Path("mine.toml").write_text(
        'name = "mine"\nscale = [0, 1]\ncomposite = 0.5\n'
        "[metrics.bleu]\nthreshold = 0.5\nweight = 1\n"
    )
    Path("carob.toml").write_text('[policy]\nprofiles = ["mine.toml"]\n')
    assert "unknown profile" not in run("validate", "rows.jsonl").stdout
    Path("carob.toml").rename("other.toml")
    assert "unknown profile" not in run("validate", "rows.jsonl", "-c", "other.toml").stdout


def test_show_takes_several_files(golden: Path):
    single = run("show", golden).stdout
    assert run("show", golden, golden).stdout == f"{single}\n{single}"
    document = json.loads(run("show", golden, golden, "--format", "json").stdout)
    assert [summary["cases"] for summary in document["datasets"]] == [2, 2]


@pytest.fixture
def _fresh_stdin() -> Iterator[None]:
    stdin_file.cache_clear()
    yield
    stdin_file.cache_clear()


def run_with_stdin(data: bytes, *args: object) -> Result:
    return CliRunner().invoke(carob, [str(arg) for arg in args], input=data)


@pytest.mark.usefixtures("_fresh_stdin")
def test_show_reports_files_that_cannot_be_read_and_shows_the_others(golden: Path):
    broken = golden.with_name("broken.json")
    broken.write_text('{"name": "Broken", "examples": [],}')
    for files in ([broken, golden], [golden.parent]):
        result = run("show", *files)
        assert result.exit_code == 2
        assert result.stdout.startswith("Bike shop 1.0.0\n")
        assert f"error: {broken} line 1 column 35: not valid JSON: " in result.stderr
    assert run("show", broken).stdout == ""


@pytest.mark.parametrize(
    ("header", "hint"),
    [
        ("Input,ExpectedOuput", "; rename 'ExpectedOuput' to 'ExpectedOutput'"),
        ("Input,Context", "; add it, or rename one"),
    ],
)
def test_table_without_a_column_of_answers_gets_a_warning(tmp_path: Path, header: str, hint: str):
    (tmp_path / "table.csv").write_text(f"{header}\nDo you sell locks?,Yes.\n")
    result = run("validate", tmp_path / "table.csv")
    assert "warning: line 1 $: no column with the expected answer, such as" in result.stdout
    assert hint in result.stdout


def test_only_formats_of_the_same_kind_of_file_are_suggested(tmp_path: Path):
    (tmp_path / "table.csv").write_text("City,Population\nBergen,291940\n")
    output = run("validate", tmp_path / "table.csv").stdout
    assert "use one of: azure, braintrust, csv, " in output
    assert "eval_set_id" not in output


def test_golden_data_is_read_from_standard_input(tmp_path: Path):
    converted = tmp_path / "a.csv"
    result = run_with_stdin(json.dumps(EXAMPLES).encode(), "convert", "-", converted, "--to", "csv")
    assert result.exit_code == 0, result.output
    assert len(load(converted)) == 2


@pytest.mark.usefixtures("_fresh_stdin")
def test_problems_of_standard_input_name_it():
    result = run_with_stdin(b"Input,ExpectedOutput\nHi,\n", "validate", "-", "--format", "json")
    assert json.loads(result.output)["files"][0]["path"] == "stdin"
    assert result.exit_code == 1


@pytest.mark.usefixtures("_fresh_stdin")
def test_standard_input_is_not_fixed():
    result = run_with_stdin(json.dumps(EXAMPLES).encode(), "lint", "--fix", "-")
    assert "cannot change standard input" in result.output
    assert result.exit_code == 2


@pytest.mark.usefixtures("_fresh_stdin")
def test_traces_are_read_from_standard_input():
    history = Path(__file__).parents[1] / "samples" / "adk-history" / "old.json"
    result = run_with_stdin(history.read_bytes(), "traces", "-")
    assert "source      stdin\n" in result.output


def test_mapped_rows_come_back_under_their_names(tmp_path: Path):
    faq = tmp_path / "faq.csv"
    faq.write_text("frage;antwort;thema\nWann öffnet ihr?;Um 9.;Zeiten\n")
    mapping = "input=frage,expected=antwort"
    assert run("validate", faq, "--map", mapping).exit_code == 0
    run("convert", faq, tmp_path / "g.json", "--to", "adk", "--map", mapping)
    run("convert", tmp_path / "g.json", tmp_path / "b.csv", "--to", f"rows:{mapping}")
    assert (tmp_path / "b.csv").read_bytes() == faq.read_bytes()


def test_mapping_in_the_config_applies_to_every_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "carob.toml").write_text('[map]\ninput = "frage"\nexpected = "antwort"\n')
    (tmp_path / "faq.csv").write_text("frage,antwort\nWann öffnet ihr?,Um 9.\n")
    assert run("validate", tmp_path / "faq.csv").exit_code == 2
    monkeypatch.chdir(tmp_path)
    assert run("validate", "faq.csv").exit_code == 0
    assert "cases                 1" in run("show", "faq.csv").stdout
    assert run("lint", "faq.csv").exit_code == 0


def test_mapping_is_only_for_plain_rows(tmp_path: Path):
    result = run("validate", tmp_path / "a.json", "--from", "adk", "--map", "input=q")
    assert result.exit_code == 2
    assert "--map is for plain rows, not for the format 'adk'" in result.stderr


def test_repeated_problems_are_listed_once_unless_all_are_asked_for(tmp_path: Path):
    golden = tmp_path / "shop_golden.json"
    golden.write_text(json.dumps({"golden_questions": [{"id": str(n)} for n in range(40)]}))
    text = run("validate", golden).stdout
    assert text.count("missing field 'user_inputs'") == 1
    assert "missing field 'user_inputs' in 40 of 40 cases, first at line 1" in text
    assert run("validate", golden, "--all").stdout.count("missing field 'user_inputs'") == 40
