from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest

from carob.config import find_config, load_config
from carob.config.trust import trust_digest
from carob.errors import FormatError, InputError, UnknownFormatError


@pytest.mark.parametrize(
    ("text", "dialect"),
    [
        ("[run]\n", "carob"),
        ('{"criteria": {}}', "adk"),
        ('{"evalSet": "a.json", "evaluators": []}', "agentevals"),
        ("evaluators: []", "agentevals"),
        ('{"metrics": {}}', "definitions"),
    ],
)
def test_dialect_is_detected_from_content_not_name(tmp_path: Path, text: str, dialect: str):
    path = tmp_path / "config.txt"
    path.write_text(text)
    assert load_config(path).dialect == dialect


@pytest.mark.parametrize("kind", ["folder", "broken link"])
def test_config_that_is_no_file_is_not_ignored(tmp_path: Path, kind: str):
    path = tmp_path / "carob.toml"
    if kind == "folder":
        path.mkdir()
    else:
        path.symlink_to("missing.toml")
    assert find_config(tmp_path) == path
    with pytest.raises(InputError, match=r"not a file|no such file"):
        load_config(path)


def test_error_for_an_unknown_config_describes_the_dialects(tmp_path: Path):
    path = tmp_path / "traces.json"
    path.write_text('{"resourceSpans": []}')
    with pytest.raises(UnknownFormatError, match="unknown config format") as caught:
        load_config(path)
    assert "ADK's test_config.json has `criteria`" in str(caught.value.hint)


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("carob.toml", "[run]\nmetrics = ['{name}']"),
        ("carob.toml", "[metrics.'{name}']\nthreshold = 1"),
        ("carob.toml", "[online.tone]\nmetrics = ['{name}']"),
        ("test_config.json", '{{"criteria": {{"{name}": 0.5}}}}'),
    ],
)
@pytest.mark.parametrize("name", ["../secret.yaml", "/etc/secret.toml", "link.yml"])
def test_rubric_outside_of_the_folder_is_refused(tmp_path: Path, file: str, text: str, name: str):
    (tmp_path / "repo").mkdir()
    (tmp_path / "secret.yaml").write_text("token: hunter2\n")
    (tmp_path / "repo" / "link.yml").symlink_to(tmp_path / "secret.yaml")
    config = tmp_path / "repo" / file
    config.write_text(text.format(name=name))
    with pytest.raises(FormatError, match="is outside of the folder of the config"):
        load_config(config)


@pytest.mark.parametrize("name", [r"a\u0000b.toml", "loop.toml", "a" * 5000 + ".toml"])
@pytest.mark.parametrize(
    "text",
    [
        '[run]\ngolden = "{}"',
        '[run]\ntraces = ["{}"]',
        '[run]\nmetrics = ["{}"]',
        '[store]\npath = "{}"',
        '[policy]\nprofile = "{}"',
        '[metrics.x]\ncode = "{}:f"',
        '[metrics.x]\nrubric = "{}"',
        '[matrix.traces]\na = "{}"',
        '[gate]\nquarantine = "{}"',
        'target = "python:{}:f"',
    ],
)
def test_names_that_cannot_be_files_are_errors_at_most(tmp_path: Path, text: str, name: str):
    (tmp_path / "loop.toml").symlink_to("loop.toml")
    config = tmp_path / "carob.toml"
    config.write_text(text.format(name))
    with suppress(FormatError):
        trust_digest(load_config(config).withheld)
