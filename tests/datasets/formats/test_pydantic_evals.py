"""Tests of datasets of pydantic-evals."""

from __future__ import annotations

from pathlib import Path

import pytest

import carob

UNNAMED = """\
cases:
- name: sunday
  inputs: Are you open on Sunday?
  expected_output: 'No'
"""


@pytest.fixture
def eval_set(tmp_path: Path) -> Path:
    (tmp_path / "hours.yaml").write_text(UNNAMED)
    carob.convert(tmp_path / "hours.yaml", tmp_path / "hours.json", to="adk")
    return tmp_path / "hours.json"


def test_dataset_without_a_name_has_none_after_converting_back(eval_set: Path):
    back = eval_set.with_name("back.yaml")
    carob.convert(eval_set, back, to="pydantic-evals")
    assert back.read_text() == UNNAMED


def test_name_that_was_given_in_between_is_kept(eval_set: Path):
    text = eval_set.read_text()
    eval_set.write_text(text.replace('"eval_set_id": "hours"', '"eval_set_id": "opening"'))
    back = eval_set.with_name("back.yaml")
    carob.convert(eval_set, back, to="pydantic-evals")
    assert back.read_text() == f"name: opening\n{UNNAMED}"
