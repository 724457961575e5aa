from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from carob import plugins
from carob.datasets.lint.run import Settings, lint
from carob.schema import Finding, Json

DEFAULT = Settings()
Linted = Callable[..., list[Finding]]


@pytest.fixture
def linted(tmp_path: Path) -> Linted:
    """The findings in examples; `rule` keeps only those of one rule."""

    def run(
        *examples: dict[str, Json], rule: str | None = None, settings: Settings = DEFAULT
    ) -> list[Finding]:
        path = tmp_path / "golden.json"
        path.write_text(json.dumps({"name": "n", "examples": list(examples)}, indent=1))
        found = lint(path, plugins.formats(), settings=settings).findings
        return [one for one in found if rule is None or one.rule == rule]

    return run
