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
def test_dialect_is_detected_from_content_not_name(tmp_path: Path, text: str, dialect: str):
    path = tmp_path / "config.txt"
    path.write_text(text)
    assert load_config(path).dialect == dialect


def test_error_for_an_unknown_config_describes_the_dialects(tmp_path: Path):
    path = tmp_path / "traces.json"
    path.write_text('{"resourceSpans": []}')
    with pytest.raises(UnknownFormatError, match="unknown config format") as caught:
        load_config(path)
    assert "ADK's test_config.json has `criteria`" in str(caught.value.hint)
