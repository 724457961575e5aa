from __future__ import annotations

import subprocess
import sys
from pathlib import Path

KARAT = Path(sys.executable).with_name("karat")


def karat(*args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([KARAT, *args], capture_output=True, text=True, timeout=60, check=False)


def test_help_imports_nothing_heavy():
    code = """
import sys
from karat.cli import karat
try:
    karat(["--help"])
except SystemExit:
    pass
heavy = {"msgspec", "rich", "karat.api", "karat.schema", "importlib.metadata", "asyncio"}
print(sorted(heavy & set(sys.modules)))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_an_error_goes_to_stderr_with_its_hint_and_exit_code_2(tmp_path: Path):
    file = tmp_path / "notes.txt"
    file.write_text("Dear diary\n")
    done = karat("show", str(file))
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith(f"error: {file}: no golden format claims this table\n\nhint: ")
    assert "adk: an object with `eval_set_id` and `eval_cases`" in done.stderr


def test_bad_usage_is_exit_code_2():
    assert karat("convert", "only-one-file").returncode == 2


def test_version():
    assert karat("--version").stdout == "karat, version 0.1.0\n"
