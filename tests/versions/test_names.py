from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carob.versions.registry import folder_names


def test_a_plain_name_is_its_own_folder():
    assert folder_names("support")[0] == "support"
    assert folder_names("Customer Support Bot (v2)")[0] == "customer-support-bot-v2"


@pytest.mark.parametrize("name", ["", "..", "/", "客户支持", "NUL", "com1", "\x00", "~"])
def test_a_name_that_is_no_folder_gets_one_of_its_own(name: str):
    (folder,) = folder_names(name)
    assert re.fullmatch(r"[a-z0-9-]+-[0-9a-f]{8}", folder)


@given(st.text(), st.text())
def test_a_folder_never_leads_elsewhere_and_the_last_is_for_one_name_only(one: str, other: str):
    for folder in folder_names(one):
        assert re.fullmatch(r"[a-z0-9][a-z0-9-]{0,70}", folder)
    assert (folder_names(one)[-1] == folder_names(other)[-1]) == (one == other)
