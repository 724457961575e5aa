from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from carob.api.history import list_runs
from carob.cli import carob
from carob.errors import CarobError, InputError, OutputError, UsageError
from carob.report.history import format_history
from carob.report.layout import Display

STORE = Path(".carob/carob.db")


@pytest.fixture(autouse=True)
def _shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with resources.as_file(resources.files("carob") / "demo" / "data") as data:
        shutil.copytree(data, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CAROB_STORE", raising=False)


def call(*args: str) -> Result:
    result = CliRunner().invoke(carob, args)
    if isinstance(result.exception, CarobError):
        raise result.exception
    return result


def run(*args: str, release: str = "good") -> str:
    golden = ("--golden", "support.evalset.json", "--format", "json")
    return call("run", f"traces/{release}.otlp.jsonl", *golden, *args).stdout


def listed(*args: str) -> list[dict[str, Any]]:
    return json.loads(call("runs", "--format", "json", *args).stdout)["runs"]


def test_every_run_is_stored_and_listed_newest_first():
    runs = [json.loads(run()), json.loads(run(release="regressed"))]
    assert [entry["id"] for entry in listed()] == [entry["id"] for entry in reversed(runs)]
    text = call("runs").stdout.splitlines()
    assert text[0].split() == ["run", "verdict", "passed", "dataset", "created", "change"]
    assert text[1].startswith(f"{runs[1]['id'][:12]} latest ")


def test_runs_show_their_names_and_what_changed_since_the_run_before():
    run()
    run(release="regressed")
    run("--label", "branch=main", release="regressed")
    lines = call("runs").stdout.splitlines()[1:]
    newest, second, first = (re.split(r"  +", line) for line in lines)
    assert [row[0].split()[1] for row in (newest, second, first)] == [
        "latest",
        "latest~1",
        "latest~2",
    ]
    assert newest[-2:] == ["same results", "branch=main"]
    assert second[-1] == "−44.4 points, was inconclusive"
    assert first[-1] == "–"
    assert [entry["change"] and entry["change"]["pass_rate"] for entry in listed()] == [
        0,
        -0.444444,
        None,
    ]


def test_filtered_runs_have_names_of_their_own():
    run()
    run("--label", "branch=main")
    assert " branch:main " in call("runs", "--label", "branch=main").stdout
    assert " latest:bike_shop_support~1 " in call("runs", "--dataset", "bike_shop_support").stdout
    assert "latest" not in call("runs", "--tag", "nothing").stdout


def test_change_is_known_across_pages():
    run()
    run(release="regressed")
    (entry,) = listed("--limit", "1")
    assert entry["change"] == {
        "same_results": False,
        "verdict_before": "inconclusive",
        "pass_rate": -0.444444,
        "same_metrics": True,
    }


def test_pass_rates_of_other_metrics_are_not_compared():
    run()
    run("-m", "rouge_l")
    assert [entry["change"] and entry["change"]["pass_rate"] for entry in listed()] == [None, None]
    assert call("runs").stdout.splitlines()[1].endswith("  other metrics")


def test_narrow_terminal_shows_change_and_labels_below_each_run():
    run()
    run("--label", "branch=main", "--label", "release=1.5.0", release="regressed")
    history = list_runs()
    lines = format_history(history, "latest", Display(80)).splitlines()
    assert len(lines) == 4
    assert max(map(len, lines)) <= 80
    assert lines[2] == "  −44.4 points, was inconclusive  branch=main release=1.5.0"
    assert len(format_history(history, "latest", Display(200)).splitlines()) == 3


def test_equal_runs_are_found_by_their_age():
    first = json.loads(run())["id"]
    run("--label", "branch=main")
    assert [entry["id"] for entry in listed()] == [first, first]
    call("store", "label", f"{first}~1", "baseline=yes")
    assert [entry["labels"] for entry in listed()] == [{"branch": "main"}, {"baseline": "yes"}]
    with pytest.raises(CarobError, match=f"no run found for '{first}~2'"):
        call("report", f"{first}~2")


def test_stored_run_is_printed_byte_for_byte():
    printed = run(release="regressed")
    assert call("report", "latest", "--format", "json").stdout == printed
    assert call("report", json.loads(printed)["id"][:9], "--format", "json").stdout == printed


@pytest.mark.parametrize("metric", ["latency", "token_usage", "cost", "tool_usage_accuracy"])
def test_numbers_of_every_kind_survive_the_store(metric: str):
    assert run("-m", metric) == call("report", "latest", "--format", "json").stdout


@pytest.mark.parametrize("form", ["text", "csv", "md", "html", "junit"])
def test_run_is_shown_again_in_any_form(form: str):
    Path("run.json").write_text(run(release="regressed"))
    output = call("report", "latest", "--format", form)
    assert output.exit_code == 0
    assert "repair_brake" in output.stdout
    if form != "html":  # which shows the runs before it, too
        assert call("report", "run.json", "--format", form).stdout == output.stdout


def test_runs_are_found_by_label():
    first = run("--label", "branch=main", "--label", "release=1.4.0")
    second = run("--label", "branch=fix/refunds", release="regressed")
    assert call("report", "branch:main", "--format", "json").stdout == first
    assert call("report", "branch:fix/refunds", "--format", "json").stdout == second
    assert [entry["labels"] for entry in listed("--label", "release=1.4.0")] == [
        {"branch": "main", "release": "1.4.0"}
    ]


def test_branch_and_commit_come_from_git():
    git = ["git", "-c", "user.name=Mara", "-c", "user.email=mara@shop.example"]
    subprocess.run(["git", "init", "-q", "-b", "trunk"], check=True)
    commit = [*git, "commit", "-q", "--allow-empty", "-m", "first"]
    subprocess.run(commit, check=True)
    head = subprocess.run(["git", "rev-parse", "HEAD"], check=True, capture_output=True, text=True)
    run()
    run("--label", "branch=mine")
    assert [entry["labels"] for entry in listed()] == [
        {"branch": "mine", "commit": head.stdout.strip()},
        {"branch": "trunk", "commit": head.stdout.strip()},
    ]


def test_store_is_ignored_by_git():
    subprocess.run(["git", "init", "-q"], check=True)
    run()
    status = subprocess.run(["git", "status", "--short", ".carob"], check=True, capture_output=True)
    assert status.stdout == b""


def test_history_can_be_filtered(monkeypatch: pytest.MonkeyPatch):
    for day in (1, 2, 3):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", str(1_772_366_400 + 86_400 * day))
        run()
    assert len(listed("--dataset", "bike_shop_support")) == 3
    assert listed("--dataset", "nothing") == listed("--tag", "nothing") == []
    assert len(listed("--since", "2026-03-03")) == 2
    assert len(listed("--until", "2026-03-03")) == 2
    assert listed("--since", "7d", "--until", "2026-03-03") == []
    page = json.loads(call("runs", "--limit", "2", "--format", "json").stdout)
    assert len(listed("--start", page["next"])) == 1
    assert f"next page: --start {page['next']}" in call("runs", "--limit", "2").stdout


def test_agents_and_tags_of_the_cases_are_known():
    call("run", "--golden", "support.simulation.csv", "-m", "tool_usage_accuracy")
    run()
    assert len(listed()) == 2
    assert len(listed("--agent", "workshop")) == len(listed("--tag", "warranty")) == 1
    assert len(listed("--agent", "workshop", "--tag", "warranty")) == 1
    assert listed("--agent", "warranty") == []


def test_no_store_does_not_save_the_run():
    run("--no-store")
    assert not STORE.exists()


@pytest.mark.parametrize("how", ["option", "environment", "config"])
def test_store_can_be_elsewhere(how: str, monkeypatch: pytest.MonkeyPatch):
    if how == "environment":
        monkeypatch.setenv("CAROB_STORE", "mine.db")
    if how == "config":
        Path("carob.toml").write_text('[store]\npath = "mine.db"\n')
    option = ("--store", "mine.db") if how == "option" else ()
    run(*option)
    assert len(listed(*option)) == 1
    assert Path("mine.db").exists()
    assert not STORE.exists()


def test_config_that_came_with_a_repository_names_no_server():
    Path("carob.toml").write_text('[store]\npath = "postgresql://elsewhere/db"\n')
    with pytest.raises(InputError, match="expected a path"):
        call("runs")


def test_run_that_cannot_be_saved_is_still_printed():
    STORE.mkdir(parents=True)
    result = call("run", "traces/good.otlp.jsonl", "-g", "support.evalset.json", "--allow-unscored")
    assert result.exit_code == 0
    assert "bike_shop_support" in result.stdout
    assert "the run was not saved: cannot be written: unable to open database file" in result.stderr


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("runs",), "no store found"),
        (("report", "latest"), "no store found"),
        (("report", "missing.json"), "cannot be read"),
        (("report", "x" * 5000), "no store found"),
        (("runs", "--until", "9999-12-31"), "invalid time"),
        (("runs", "--store", "mysql://x/y"), "unsupported store URL scheme 'mysql'"),
        (("store", "prune"), "nothing to prune"),
        (("store", "prune", "--older-than", "soon"), "invalid age 'soon'"),
        (("runs", "--since", "soon"), "invalid time 'soon'"),
        (("store", "label", "latest", "a b=c"), "invalid label name 'a b'"),
    ],
)
def test_invalid_requests_are_errors(args: tuple[str, ...], message: str):
    with pytest.raises((InputError, UsageError), match=message):
        call(*args)
    assert not STORE.exists()


def test_misspelled_label_is_an_error_before_anything_runs():
    with pytest.raises(UsageError, match="invalid label name"):
        run("--label", "a b=c")
    assert not STORE.exists()


def test_changed_number_fails_the_verification():
    import sqlite3

    run("--keep-traces")
    assert call("store", "verify").exit_code == 0
    with sqlite3.connect(STORE) as connection:
        connection.execute("UPDATE outcomes SET value = 0.125 WHERE place = 2 AND part = 0")
    connection.close()
    result = call("store", "verify", "--format", "json")
    assert result.exit_code == 1
    (problem,) = json.loads(result.stdout)["problems"]
    assert "value 0.125, its body says" in problem["message"]
    assert "value 0.125" in call("store", "verify").stdout


def test_traces_are_saved_on_request():
    run("--keep-traces")
    report = json.loads(call("store", "verify", "--format", "json").stdout)
    assert report["contents"] == 9


def test_store_survives_export_and_import():
    printed = run("--keep-traces", "--label", "release=1.4.0")
    assert call("store", "export", "all.jsonl.gz").stdout.startswith("1 run and 9 blobs written")
    assert call("store", "export", "all.jsonl.gz", "--force").exit_code == 0
    message = call("store", "import", "all.jsonl.gz", "--store", "other.db").stdout
    assert message == "1 run and 9 blobs imported into other.db\n"
    again = call("store", "import", "all.jsonl.gz", "--store", "other.db").stdout
    assert again == "0 runs imported into other.db, 1 already stored\n"
    output = call("report", "release:1.4.0", "--store", "other.db", "--format", "json").stdout
    assert output == printed


def test_prune_removes_old_runs_and_keeps_a_baseline():
    run()
    run(release="regressed")
    call("store", "label", "latest", "baseline=1.4.0")
    message = call("store", "prune", "--keep", "0", "--dry-run").stdout
    assert message.startswith("1 run would be removed")
    assert call("store", "prune", "--keep", "0").stdout == (
        "1 run removed from .carob/carob.db, 1 kept (1 protected by a label)\n"
    )
    assert [entry["labels"] for entry in listed()] == [{"baseline": "1.4.0"}]


def test_command_that_needs_no_store_does_not_load_a_database(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("COVERAGE_PROCESS_CONFIG", raising=False)  # coverage itself loads one
    program = "import sys, carob.api, carob.cli.history; sys.exit('sqlite3' in sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_run_is_saved_even_if_it_cannot_be_printed():
    with pytest.raises(OutputError):
        run("-o", "missing/run.json")
    assert len(listed()) == 1


def test_export_does_not_overwrite_a_file():
    run()
    Path("all.jsonl").write_text("mine")
    with pytest.raises(UsageError, match=r"^all.jsonl already exists$"):
        call("store", "export", "all.jsonl")
    assert Path("all.jsonl").read_text() == "mine"
