from __future__ import annotations

import shutil
from importlib import resources
from pathlib import Path

import pytest

from carob import Case, Dataset
from carob.api import datasets, metrics, runs

CASES = [
    Case.of("Are you open on Monday?", "No, we are closed on Monday.", id="monday", tags=["shop"]),
    Case.of("Do you sell bells?", "Yes, from 5 euros.", id="bells", tags=["stock"]),
    Case.of("Do you repair e-bikes?", "Yes, all of them.", id="ebikes", tags=["repair"]),
]
INI = """
[pytest]
filterwarnings = error
addopts = --strict-markers -p no:hypothesispytest -p no:anyio -p no:schemathesis
"""


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Golden data of three cases, and the bundled data in `demo`. Imports every module of Carob,
    because `pytester` discards modules that are first imported in a test."""
    folder = tmp_path_factory.mktemp("files")
    datasets.save(Dataset(name="shop", cases=CASES), folder / "shop.json", format="questions")
    with resources.as_file(resources.files("carob") / "demo" / "data") as data:
        shutil.copytree(data, folder / "demo")
    runs.run(
        [folder / "demo" / "traces" / "good.otlp.jsonl"],
        golden=folder / "demo" / "support.evalset.json",
    )
    metrics.metrics()
    return folder


@pytest.fixture
def shop(files: Path, pytester: pytest.Pytester) -> pytest.Pytester:
    shutil.copytree(files, pytester.path, dirs_exist_ok=True)
    pytester.makeini(INI)
    return pytester
