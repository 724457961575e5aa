"""What the linter finds in planted mistakes, and what it reports wrongly in clean data."""

from __future__ import annotations

import pytest

from tests.datasets.lint.conftest import Linted
from tests.datasets.lint.planted import SAMPLES, Sample

_ABOUT_THE_DATASET = ("C001", "C501", "C502", "C503")
"""A sample is too small for the rules on coverage and size."""


@pytest.mark.parametrize("sample", SAMPLES.values(), ids=SAMPLES)
def test_planted_mistakes_are_found_and_nothing_else(linted: Linted, sample: Sample):
    findings = linted(*sample.examples)
    rules = {finding.rule for finding in findings if finding.rule not in _ABOUT_THE_DATASET}
    assert rules == {*sample.rules}
