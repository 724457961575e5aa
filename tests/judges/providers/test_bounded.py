from __future__ import annotations

from typing import Any

from carob.judges.providers.bounded import bounded

TEXT: dict[str, Any] = {"type": "string"}
WORD: dict[str, Any] = {"type": "string", "enum": ["no", "yes"]}


def schema(**fields: Any) -> dict[str, Any]:
    return {"type": "object", "properties": fields, "required": [*fields]}


def test_free_texts_are_limited_and_words_are_not():
    found: Any = bounded(schema(explanation=TEXT, verdict=WORD, score={"type": "integer"}), 1024)
    assert found["properties"]["explanation"] == {"type": "string", "maxLength": 400}
    assert found["properties"]["verdict"] == WORD
    assert found["required"] == ["explanation", "verdict", "score"]


def test_many_texts_share_the_tokens():
    many = {f"property_{number}": schema(explanation=TEXT, verdict=WORD) for number in range(20)}
    found: Any = bounded(schema(**many), 1024)
    assert found["properties"]["property_7"]["properties"]["explanation"]["maxLength"] == 46


def test_the_schema_that_is_given_stays_as_it_is():
    given = schema(explanation=TEXT)
    bounded(given, 10)
    assert given == schema(explanation={"type": "string"})
