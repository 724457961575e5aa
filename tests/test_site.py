"""The documentation site builds without a warning, and needs nothing from elsewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LOADED = re.compile(r'<(?:script|img|link|iframe)[^>]*\s(?:src|href)="?(https?:[^">\s]+)')


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    built = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    return folder


def test_site_has_every_page(site: Path):
    pages = {path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md")}
    built = {path.relative_to(site).with_suffix(".md") for path in site.rglob("*.html")}
    assert built == pages | {Path("404.md")}


def test_site_loads_nothing_from_elsewhere(site: Path):
    texts = [path.read_text("utf-8") for path in site.rglob("*.html")]
    assert [address for text in texts for address in LOADED.findall(text)] == []


def test_named_files_are_titles_of_their_code(site: Path):
    text = (site / "guides" / "troubleshooting.html").read_text("utf-8")
    assert "almost.json</span>" in text
