from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]
GITHUB = ROOT / ".github"


def release_errors(tag: str, root: Path) -> list[str]:
    spec = spec_from_file_location("check_release", GITHUB / "check_release.py")
    assert spec
    assert spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.release_errors(tag, root)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text('[project]\nversion = "1.2.0"\n')
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## 1.2.0 (2026-11-18)\n\n- New.\n")
    return tmp_path


def test_matching_tag_version_and_changelog_can_be_released(project: Path):
    assert release_errors("v1.2.0", project) == []


def test_tag_of_another_version_is_refused(project: Path):
    assert release_errors("v1.3.0", project) == [
        "the tag is 'v1.3.0', but pyproject.toml has version '1.2.0'"
    ]


def test_version_without_a_changelog_section_is_refused(project: Path):
    (project / "CHANGELOG.md").write_text("# Changelog\n\n## Unreleased\n\n- New.\n")
    assert release_errors("v1.2.0", project) == ["CHANGELOG.md has no section '## 1.2.0 (DATE)'"]


def workflow_steps() -> list[tuple[str, dict[str, Any]]]:
    return [
        (path.name, step)
        for path in sorted((GITHUB / "workflows").glob("*.yml"))
        for job in yaml.safe_load(path.read_text("utf-8"))["jobs"].values()
        for step in job["steps"]
    ]


def test_workflows_pin_every_action_by_commit():
    used = [step["uses"] for _, step in workflow_steps() if "uses" in step]
    assert used
    loose = [name for name in used if len(name.partition("@")[2]) != 40]
    assert loose == []


def test_workflows_pass_nothing_from_events_into_shell_code():
    scripts = [step["run"] for _, step in workflow_steps() if "run" in step]
    assert scripts
    assert [script for script in scripts if "${{" in script] == []


def test_workflows_run_only_targets_that_exist():
    targets = (ROOT / "Makefile").read_text("utf-8")
    called = [
        step["run"].split()[1]
        for _, step in workflow_steps()
        if step.get("run", "").startswith("make ")
    ]
    assert called
    assert [target for target in called if f"\n{target}:" not in targets] == []
