from __future__ import annotations

from pathlib import Path

import pytest

from carob.datasets.formats.examples import ExamplesFormat


@pytest.mark.parametrize("version", ["1.0", "v1.0.0", "01.0.0", "1.0.0-", ""])
def test_version_that_is_not_semantic_is_a_warning(version: str):
    (problem,) = ExamplesFormat().check_frame({"name": "x", "version": version}, Path())
    assert (problem.where, problem.severity) == ("$.version", "warning")


@pytest.mark.parametrize("version", ["1.0.0", "0.1.0-rc.1", "2.10.3+build.7"])
def test_semantic_version_is_fine(version: str):
    assert not list(ExamplesFormat().check_frame({"name": "x", "version": version}, Path()))


def test_time_that_is_not_iso_is_an_error():
    (problem,) = ExamplesFormat().check_frame({"name": "x", "createdAt": "yesterday"}, Path())
    assert (problem.where, problem.severity) == ("$.createdAt", "error")


def test_empty_texts_are_errors():
    problems = list(ExamplesFormat().check({"input": " ", "expectedOutput": ""}))
    assert [problem.where for problem in problems] == ["$.input", "$.expectedOutput"]


def test_id_follows_from_the_input_alone():
    lens = ExamplesFormat().cases("document")
    first = lens.get({"input": "a", "expectedOutput": "b"})
    assert lens.get({"input": "a", "expectedOutput": "corrected"}).id == first.id
