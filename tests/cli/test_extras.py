"""Missing packages are reported before any work is done, with the one command that helps.

The files of these commands do not exist: whoever starts to work reports that instead.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

from carob.cli import carob
from carob.errors import UsageError, install_hint

ROOT = Path(__file__).parents[2]
OPTIONAL = (
    *("numpy", "scipy", "genai_prices", "model2vec", "detect_secrets", "phonenumbers", "stdnum"),
    *("glin_profanity", "jsonschema", "psycopg", "ray", "s3fs"),
)


@pytest.mark.parametrize(
    ("command", "extras"),
    [
        ("compare before.json after.json", ["stats"]),
        ("gate after.json --baseline before.json", ["stats"]),
        ("calibrate labels.csv --run run.json", ["stats"]),
        ("capture traces.json golden.json --to adk --mask", ["pii"]),
        ("run traces.json -m rouge_l -m cost -m contract", ["metrics"]),
        ("run traces.json -m cost -m semantic_similarity", ["metrics", "semantic"]),
        ("run traces.json -m rouge_l --store postgresql://host/runs", ["postgres"]),
        ("runs --store postgresql://host/runs", ["postgres"]),
        ("run traces.json --on ray", ["ray"]),
        ("traces s3://bucket/traces.jsonl", ["s3"]),
    ],
)
def test_missing_extras_are_reported_at_once(
    command: str, extras: list[str], monkeypatch: pytest.MonkeyPatch
):
    for package in OPTIONAL:
        monkeypatch.setitem(sys.modules, package, None)
    error = CliRunner().invoke(carob, command.split()).exception
    assert isinstance(error, UsageError)
    assert error.hint == install_hint(*extras)


def test_one_extra_installs_everything_but_what_clusters_need():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    (everything,) = extras.pop("all")
    del extras["ray"], extras["s3"]  # large, and useless on one machine with local files
    assert everything == f"carob[{','.join(sorted(extras))}]"
