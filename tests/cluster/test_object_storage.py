"""Traces and golden data in object storage, read from a real S3 server."""

from __future__ import annotations

import gzip
import json
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.cluster.s3 import (
    StorageServer,
    needs_environment,
    run_carob,
    run_python,
    storage_server,
)
from tests.store.test_shards import write_inputs

pytestmark = needs_environment
METRIC = ("-m", "exact_match", "--threshold", "exact_match=0.5", "--no-store", "--format", "json")


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("inputs")
    write_inputs(folder)
    return folder


@pytest.fixture(scope="module")
def storage(tmp_path_factory: pytest.TempPathFactory, inputs: Path) -> Generator[StorageServer]:
    with storage_server(tmp_path_factory.mktemp("s3") / "buckets") as server:
        for file in (inputs / "traces").iterdir():
            server.put(f"shop/traces/{file.name}", file.read_bytes())
        server.put("shop/golden.csv", (inputs / "golden.csv").read_bytes())
        yield server


def test_run_of_addresses_is_the_run_of_the_files(
    tmp_path: Path, inputs: Path, storage: StorageServer
):
    files = sorted((inputs / "traces").iterdir())
    local = run_carob(tmp_path, {}, "run", *files, "-g", inputs / "golden.csv", *METRIC)
    golden = ("--golden", "s3://shop/golden.csv")
    for address in ("s3://shop/traces/*.jsonl", "s3://shop/traces"):
        remote = run_carob(tmp_path, storage.variables, "run", address, *golden, *METRIC)
        assert (remote.stderr, remote.stdout) == ("", local.stdout)
    assert json.loads(local.stdout)["summary"]["cases"]["passed"] > 10


def test_traces_name_the_address_that_they_were_read_from(tmp_path: Path, storage: StorageServer):
    body = (storage.folder / "shop/traces/1.jsonl").read_bytes()
    storage.put("packed/1.jsonl.gz", gzip.compress(body))
    shown = run_carob(tmp_path, storage.variables, "traces", "s3://packed", "--format", "json")
    traces = json.loads(shown.stdout)["traces"]
    assert {trace["source"] for trace in traces} == {"s3://packed/1.jsonl.gz"}
    assert len(traces) == 3


_COPY = """
from carob.files.remote import fetch_files
steps = []
fetch_files("s3://shop/traces", lambda done, total: steps.append((done, total)))
done, totals = [done for done, _ in steps], {total for _, total in steps}
print(totals == {done[-1]}, done == sorted(done), len(done) > 1)
"""


def test_copying_reports_the_bytes_of_all_files(tmp_path: Path, storage: StorageServer):
    shown = run_python(tmp_path, storage.variables, "-c", _COPY)
    assert (shown.stderr, shown.stdout) == ("", "True True True\n")


def test_names_that_no_file_system_allows_are_read(tmp_path: Path, storage: StorageServer):
    body = (storage.folder / "shop/traces/1.jsonl").read_bytes()
    address = storage.put(f"names/a b/{'long' * 50} ü.jsonl", body)
    shown = run_carob(tmp_path, storage.variables, "traces", address, "--format", "json")
    assert {trace["source"] for trace in json.loads(shown.stdout)["traces"]} == {address}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("s3://shop/none.jsonl",), "s3://shop/none.jsonl: no such file"),
        (("s3://shop/none/*",), "s3://shop/none/*: no file matches"),
        (("s3://shop/golden.csv",), "s3://shop/golden.csv: found golden data (csv)"),
        (("s3://shop/x::file:///etc/hosts",), "'::' is not allowed in an address"),
        (("gs://shop/traces",), "reading gs:// requires gcsfs"),
    ],
)
def test_what_cannot_be_read_is_an_error(
    tmp_path: Path, storage: StorageServer, arguments: tuple[str, ...], message: str
):
    result = run_carob(tmp_path, storage.variables, "traces", *arguments)
    assert message in result.stderr
    assert result.returncode == 2
    assert "Traceback" not in result.stderr


def test_wrong_and_missing_credentials_are_errors(tmp_path: Path, storage: StorageServer):
    wrong = {**storage.variables, "AWS_SECRET_ACCESS_KEY": "wrong"}
    missing = {
        name: value for name, value in storage.variables.items() if not name.endswith("KEY_ID")
    }
    for variables in (wrong, missing):
        result = run_carob(tmp_path, variables, "traces", "s3://shop/traces")
        assert result.returncode == 2
        assert "s3://shop/traces: cannot be read: " in result.stderr
        assert "come from the environment" in result.stderr


def test_config_names_an_address_only_with_trust(tmp_path: Path, storage: StorageServer):
    (tmp_path / "carob.toml").write_text(
        '[run]\ngolden = "s3://shop/golden.csv"\ntraces = ["s3://shop/traces/*.jsonl"]\n'
    )
    refused = run_carob(tmp_path, storage.variables, "run", *METRIC)
    assert refused.returncode == 2
    assert "settings that need your trust: " in refused.stderr
    assert "run.traces = s3://shop/traces/*.jsonl" in refused.stderr
    assert "run.golden = s3://shop/golden.csv" in refused.stderr
    trusted = run_carob(tmp_path, {**storage.variables, "CAROB_TRUST": "1"}, "run", *METRIC)
    assert json.loads(trusted.stdout)["summary"]["cases"]["total"] == 24


def test_copies_do_not_outlive_the_command(tmp_path: Path, storage: StorageServer):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    variables = {**storage.variables, "TMPDIR": str(scratch)}
    assert run_carob(tmp_path, variables, "traces", "s3://shop/traces").returncode == 0
    assert [*scratch.iterdir()] == []
