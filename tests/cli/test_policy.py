from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner, Result

from carob.cli import carob
from carob.cli.output import show_error
from carob.errors import CarobError

GOOD = {"case": "orders-001", "profile": "prep_default", "scores": {"RelevanceExplain": 4}}
BAD = {
    "case": "orders-002",
    "profile": "prep_default",
    "scores": {"TaskAdherence": 2, "Relevance": 3, "Empathy": None},
}
REASON = (
    "Hard-fail metrics (<3.00): TaskAdherence=2.00; Below threshold: Relevance=3.00 (<3.60); "
    "Composite=2.43 (<3.65)"
)


def apply(*lines: object, options: tuple[object, ...] = ()) -> Result:
    stdin = "".join(json.dumps(line) + "\n" for line in lines)
    result = CliRunner().invoke(carob, ["policy", "apply", *map(str, options)], input=stdin)
    if isinstance(result.exception, CarobError):
        show_error(result.exception)
    return result


def test_json_is_the_contract():
    result = apply(GOOD, BAD, options=("--format", "json"))
    assert result.exit_code == 1
    good, bad = json.loads(result.stdout)["cases"]
    assert good == {"case": "orders-001", "composite": 4.0, "passed": True, "reason": ""}
    assert (bad["case"], bad["passed"], bad["reason"]) == ("orders-002", False, REASON)


def test_exit_code_is_0_if_every_case_passed():
    assert apply(GOOD).exit_code == 0


def test_file_is_read_and_another_written(tmp_path: Path):
    scores, out = tmp_path / "scores.jsonl", tmp_path / "out.json"
    scores.write_text(json.dumps(GOOD))
    assert apply(options=(scores, "--format", "json", "-o", out)).exit_code == 0
    assert json.loads(out.read_text())["cases"][0]["passed"] is True


def test_text_shows_pass_rate_means_and_cases_that_did_not_pass():
    output = apply(GOOD, BAD).stdout
    assert "prep_default: 2 cases, 1 passed (50.0%)" in output
    assert f"orders-002  2.43  {REASON}" in output
    assert "Relevance      3.50  3.00  4.00                1         0" in output


def test_text_lists_every_profile():
    output = apply(GOOD, {**GOOD, "profile": "assessment_strict"}).stdout
    assert "prep_default: 1 case, 1 passed" in output
    assert "assessment_strict: 1 case, 1 passed" in output


def test_custom_profile_applies_to_every_line(tmp_path: Path):
    own = tmp_path / "own.toml"
    metrics = "[metrics]\nRelevance = { threshold = 4.5, weight = 1 }\n"
    own.write_text("scale = [1, 5]\ncomposite = 1\n" + metrics)
    result = apply(GOOD, options=("--profile", own, "--format", "json"))
    assert json.loads(result.stdout)["cases"][0]["reason"] == (
        "Below threshold: RelevanceExplain=4.00 (<4.50)"
    )


def test_raw_scales_use_scores_unchanged():
    line = {**GOOD, "scores": {"PerceivedIntelligence": 10}}
    scaled, raw = (
        apply(line, options=("--format", "json", *flag)) for flag in ([], ["--raw-scales"])
    )
    assert json.loads(scaled.stdout)["cases"][0]["composite"] == 5
    assert json.loads(raw.stdout)["cases"][0]["composite"] == 10


def test_unknown_metric_is_an_error_with_its_line():
    result = apply(GOOD, {**GOOD, "scores": {"Relevanse": 4}})
    assert isinstance(result.exception, CarobError)
    assert str(result.exception) == "<stdin> line 2: unknown metric 'Relevanse'"
    assert result.exception.hint == "did you mean 'Relevance'?"
    assert result.stdout == ""


def test_no_scores_at_all_is_an_error():
    assert str(apply().exception) == "<stdin>: no scores"
