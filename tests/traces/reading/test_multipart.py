from __future__ import annotations

from pathlib import Path

import pytest

from carob.errors import FormatError
from carob.traces.reading.json_values import is_divisible
from carob.traces.reading.multipart import read_batch

SAMPLE = Path(__file__).parents[2] / "samples" / "traces" / "captured" / "langsmith_multipart.body"


def part(name: str, content: str) -> str:
    head = f'Content-Disposition: form-data; name="{name}"\r\nContent-Type: application/json'
    return f"--b7\r\n{head}\r\n\r\n{content}\r\n"


def body(*parts: str) -> bytes:
    return "".join((*parts, "--b7--\r\n")).encode()


def test_fields_in_parts_of_their_own_belong_to_their_run():
    batch = read_batch(
        body(
            part("post.r1", '{"id":"r1","run_type":"llm"}'),
            part("post.r1.inputs", '{"text":"line --b7 within"}'),
            part("attachment.r1.photo", "raw bytes"),
            part("patch.r2.outputs", '{"a":1}'),
        ),
        "f",
    )
    assert batch == {
        "post": [{"id": "r1", "run_type": "llm", "inputs": {"text": "line --b7 within"}}],
        "patch": [{"id": "r2", "outputs": {"a": 1}}],
    }


def test_broken_part_is_named():
    with pytest.raises(FormatError) as caught:
        read_batch(body(part("post.r1", '{"id":')), "f")
    assert caught.value.where == "f part 'post.r1'"


def test_body_of_another_program_is_refused():
    with pytest.raises(FormatError, match="without runs of LangSmith"):
        read_batch(body(part("photo", "…")), "f")


def test_body_is_not_divided_between_processes():
    assert not is_divisible(SAMPLE)
