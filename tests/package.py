"""Check the package before a release: `python -m tests.package`, or `make package`.

Wheel and source distribution are built twice and must have the same bytes; their metadata and
content are checked; and the wheel is installed into clean environments, once as it is and once with
each extra, where the command must start and the modules of the extra must be importable.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tomllib
import venv
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[1]
MODULES = {
    "anthropic": "pydantic_ai.models.anthropic",
    "bedrock": "pydantic_ai.models.bedrock",
    "excel": "openpyxl",
    "facts": "pint, babel, text_to_num",
    "google": "pydantic_ai.models.google",
    "grpc": "grpc, opentelemetry.proto",
    "judge": "aiohttp, genai_prices",
    "live": "aiohttp, genai_prices, jinja2",
    "local": "aiohttp, xllamacpp",
    "mcp": "mcp.server",
    "metrics": "genai_prices, re2, jsonschema",
    "otlp": "opentelemetry.proto",
    "parquet": "arro3.io",
    "pii": "detect_secrets, phonenumbers, stdnum",
    "postgres": "psycopg",
    "safety": "glin_profanity",
    "semantic": "model2vec",
    "server": "carob.server.app",
    "stats": "numpy, scipy",
    "ray": "ray",
    "s3": "s3fs",
    "typos": "codespell_lib",
    "yaml": "yaml",
    "zstd": "zstandard",
}
"""What can be imported with each extra."""


def main() -> None:
    """Run every check; raises at the first that fails."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        files = _build(folder / "first")
        _check_same(files, _build(folder / "second"))
        paths = [str(path) for path in files]
        _run(sys.executable, "-m", "twine", "check", "--strict", *paths)
        wheel = next(path for path in files if path.suffix == ".whl")
        _run(sys.executable, "-m", "check_wheel_contents", str(wheel))
        for extra in ("", *_extras()):
            _check_install(wheel, extra, folder / "environments" / (extra or "base"))


def _build(folder: Path) -> list[Path]:
    _run(sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder))
    return sorted(folder.iterdir())


def _check_same(first: list[Path], second: list[Path]) -> None:
    digests = [
        {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
        for files in (first, second)
    ]
    if digests[0] != digests[1]:
        raise SystemExit(f"error: two builds differ: {digests}")
    for name, digest in digests[0].items():
        _say(f"{name}  sha256:{digest}")


def _extras() -> Iterator[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras: Mapping[str, list[str]] = project["optional-dependencies"]
    for extra in extras:
        if extra != "all":
            if extra not in MODULES:
                raise SystemExit(f"error: tests/package.py does not know the extra {extra!r}")
            yield extra


def _check_install(wheel: Path, extra: str, folder: Path) -> None:
    venv.create(folder, with_pip=True)
    scripts = folder / ("Scripts" if sys.platform == "win32" else "bin")
    requirement = f"{wheel}[{extra}]" if extra else str(wheel)
    _run(scripts / "python", "-m", "pip", "install", "--quiet", requirement)
    _run(scripts / "carob", "--version")
    if extra:
        _run(scripts / "python", "-c", f"import {MODULES[extra]}")
    else:
        _run(scripts / "carob", "demo")
    _say(f"installed: carob[{extra}]" if extra else "installed: carob")


def _run(*command: str | Path) -> None:
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if result.returncode:
        raise SystemExit(f"error: {command} failed:\n{result.stdout}{result.stderr}")


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
