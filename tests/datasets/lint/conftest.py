from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from carob import plugins
from carob.datasets.lint.rules import LintOptions
from carob.datasets.lint.run import lint
from carob.schema import Finding, Json

DEFAULT = LintOptions()
Linted = Callable[..., list[Finding]]


@pytest.fixture
def linted(tmp_path: Path) -> Linted:
    """Lint examples; `rule` selects the findings of one rule."""

    def run(
        *examples: dict[str, Json], rule: str | None = None, settings: LintOptions = DEFAULT
    ) -> list[Finding]:
        path = tmp_path / "golden.json"
        path.write_text(json.dumps({"name": "n", "examples": list(examples)}, indent=1))
        findings = lint(path, plugins.formats(), settings=settings).findings
        return [finding for finding in findings if rule is None or finding.rule == rule]

    return run
