from __future__ import annotations

from pathlib import Path

import pytest

from carob.config import load_config
from carob.errors import UnknownFormatError


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
def test_the_dialect_is_known_by_content_and_not_by_name(tmp_path: Path, text: str, dialect: str):
    path = tmp_path / "config.txt"
    path.write_text(text)
    assert load_config(path).dialect == dialect


def test_a_file_that_is_no_config_is_told_what_one_looks_like(tmp_path: Path):
    path = tmp_path / "traces.json"
    path.write_text('{"resourceSpans": []}')
    with pytest.raises(UnknownFormatError, match="unknown config format") as caught:
        load_config(path)
    assert "ADK's test_config.json has `criteria`" in str(caught.value.hint)
