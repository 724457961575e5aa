from __future__ import annotations

import importlib.util

import pytest

from carob.analysis.distributions import import_optional, require_statistics
from carob.errors import UsageError, install_hint


def test_missing_packages_are_named_with_their_purpose_and_extra(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(importlib.util, "find_spec", dict[str, None]().get)
    missing = "requires packages that are not installed: 'numpy', 'scipy'"
    with pytest.raises(UsageError) as caught:
        require_statistics("a comparison")
    assert caught.value.message == f"a comparison {missing}"
    assert caught.value.hint == install_hint("stats")
    with pytest.raises(UsageError) as caught:
        import_optional("numpy")
    assert caught.value.message == f"this statistic {missing}"
