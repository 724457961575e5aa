"""Templates of plugins work as they are written."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

from carob.api.new import KINDS, create_plugin
from carob.cli import carob
from carob.errors import OutputError, UsageError

GOLDEN = {"shop": [{"id": "hose", "question": "Price of the hose?", "answer": "19 euros"}]}
TRACE = {"shop": "t1", "question": "Price of the hose?", "answer": "19 euros"}
SPAN = {
    "traceId": "0" * 31 + "1",
    "spanId": "0" * 15 + "1",
    "name": "call",
    "startTimeUnixNano": "1000000000",
    "endTimeUnixNano": "2000000000",
    "attributes": [
        {"key": "shop.question", "value": {"stringValue": "Price of the hose?"}},
        {"key": "shop.answer", "value": {"stringValue": "19 euros"}},
    ],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All templates, installed as pip would do it."""
    folder = tmp_path_factory.mktemp("plugins")
    (folder / "site").mkdir()
    for kind in KINDS:
        create_plugin(kind, "shop", folder / kind)
        if kind == "metric":
            continue
        package = folder / kind / "carob_shop"
        project = tomllib.loads((package / "pyproject.toml").read_text("utf-8"))["project"]
        ((group, entries),) = project["entry-points"].items()
        reference = entries["shop"].replace("carob_shop:", f"shop_{kind}:")
        text = (package / "carob_shop.py").read_text("utf-8")
        (folder / "site" / f"shop_{kind}.py").write_text(text, "utf-8")
        info = folder / "site" / f"shop_{kind}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {kind}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[{group}]\nshop = {reference}\n")
    (folder / "golden.json").write_text(json.dumps(GOLDEN))
    (folder / "traces.jsonl").write_text(json.dumps(TRACE) + "\n")
    spans = {"resourceSpans": [{"scopeSpans": [{"spans": [SPAN]}]}]}
    (folder / "spans.json").write_text(json.dumps(spans))
    return folder


def run(folder: Path, *args: str) -> dict[str, object]:
    program = "from carob.cli import main; main()"
    result = subprocess.run(
        [sys.executable, "-c", program, "run", *args, "--no-store", "--format", "json"],
        cwd=folder,
        env={"PYTHONPATH": f"{folder / 'site'}:{':'.join(sys.path)}", "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.stdout, result.stderr
    return json.loads(result.stdout)


@pytest.mark.parametrize("source", [["traces.jsonl"], ["spans.json"], ["--target", "shop:here"]])
def test_every_template_takes_part_in_a_run(folder: Path, source: list[str]):
    document = run(folder, *source, "-g", "golden.json", "-m", "metric/shop.py:shop")
    assert document["verdict"] == "passed"


def test_command_writes_files_and_replaces_none(tmp_path: Path):
    arguments = ["new", "metric", "tone", "--folder", str(tmp_path)]
    result = CliRunner().invoke(carob, arguments)
    assert result.stdout == f"{tmp_path / 'tone.py'}\n"
    with pytest.raises(OutputError, match="already exists"):
        create_plugin("metric", "tone", tmp_path)
    with pytest.raises(UsageError, match="invalid name 'Tone!'"):
        create_plugin("metric", "Tone!", tmp_path)
    with pytest.raises(UsageError, match="unknown kind 'plugin'"):
        create_plugin("plugin", "tone", tmp_path)
