from __future__ import annotations

import pytest

from tests.reference import FOLDER, pages


@pytest.mark.parametrize("name", list(pages()))
def test_the_reference_says_what_the_code_says(name: str):
    assert (FOLDER / name).read_text("utf-8") == pages()[name], "write it anew with `make docs`"
