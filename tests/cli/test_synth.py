from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner, Result

import carob as library
from carob.cli import carob

GOLDEN = Path(__file__).parents[2] / "src" / "carob" / "demo" / "data" / "support.evalset.json"


def call(*args: object) -> Result:
    return CliRunner().invoke(carob, [str(arg) for arg in args])


def test_the_same_seed_writes_the_same_bytes(tmp_path: Path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        call("synth", GOLDEN, tmp_path / name / "v.json")
    assert (tmp_path / "a/v.json").read_bytes() == (tmp_path / "b/v.json").read_bytes()


def test_variants_are_valid_golden_data_without_lint_findings(tmp_path: Path):
    file = tmp_path / "v.json"
    report = json.loads(call("synth", GOLDEN, file, "--with-parents", "--format", "json").stdout)
    assert report["cases"] + 9 == len(library.load(file))
    assert call("validate", file).exit_code == 0
    assert call("lint", file, "--strict").exit_code == 0


def test_an_existing_file_is_never_overwritten(tmp_path: Path):
    file = tmp_path / "v.json"
    call("synth", GOLDEN, file)
    before = file.read_bytes()
    result = CliRunner().invoke(carob, ["synth", str(GOLDEN), str(file), "--seed", "1"])
    assert "already exists and differs" in str(result.exception)
    assert file.read_bytes() == before


def test_only_the_named_relations_are_applied(tmp_path: Path):
    file = tmp_path / "v.json"
    call("synth", GOLDEN, file, "--relation", "typos", "--relation", "unknown_id")
    assert {str(case.metadata["relation"]) for case in library.load(file)} == {
        "typos",
        "unknown_id",
    }


def test_an_unknown_relation_is_refused_with_a_suggestion(tmp_path: Path):
    result = call("synth", GOLDEN, tmp_path / "v.json", "--relation", "typoes")
    assert "unknown relation 'typoes'" in str(result.exception)


def test_a_quota_needs_a_known_axis(tmp_path: Path):
    result = call("synth", GOLDEN, tmp_path / "v.json", "--quota", "color:red=2")
    assert "invalid quota 'color:red'" in str(result.exception)


def test_relations_are_listed():
    relations = json.loads(call("synth", "--list", "--format", "json").stdout)["relations"]
    assert [item["holds"] for item in relations if item["name"] == "missing_slot"] == ["ask"]
