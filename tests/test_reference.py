from __future__ import annotations

import pytest

from tests.reference import FOLDER, pages


@pytest.mark.parametrize("name", list(pages()))
def test_reference_page_is_up_to_date(name: str):
    assert (FOLDER / name).read_text("utf-8") == pages()[name], "run `make docs`"
