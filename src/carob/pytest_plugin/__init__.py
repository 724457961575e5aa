"""Golden cases as tests. Everything expensive is imported when a test carries the marker."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

if TYPE_CHECKING:
    from carob.pytest_plugin.fixture import Golden
    from carob.pytest_plugin.session import GoldenSession

_MARKER = (
    "golden(path, *, metrics, traces, target, thresholds, params, profile, where, tags, "
    "cases, limit, allow_unscored): one test for each case of a golden dataset"
)
_SESSION = "carob-session"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("carob", "golden data")
    group.addoption(
        "--carob-run",
        type=Path,
        metavar="FILE",
        help="Write the run of all golden cases to FILE, for `carob compare` and `carob gate`.",
    )
    group.addoption(
        "--carob-trust-config",
        action="store_true",
        help="Use the judge address and key variable that carob.toml names, whoever wrote it.",
    )
    group.addoption(
        "--carob-store", metavar="PATH|URL", help="Save the run in this store, for `carob runs`."
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", _MARKER)
    path = cast("Path | None", config.getoption("--carob-run"))
    store = cast("str | None", config.getoption("--carob-store"))
    if (path or store) and not hasattr(config, "workerinput") and not config.option.collectonly:
        from carob.pytest_plugin.record import Recorder  # late: most sessions write no run

        file = config.invocation_params.dir / path if path else None
        config.pluginmanager.register(Recorder(file, store))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    mark = metafunc.definition.get_closest_marker("golden")
    if mark:
        _session(metafunc.config).generate(metafunc, mark)


def _session(config: pytest.Config) -> GoldenSession:
    """Return the part that reads golden data, created for the first marker."""
    if not config.pluginmanager.has_plugin(_SESSION):
        from carob.pytest_plugin.session import GoldenSession  # late: most sessions have no marker

        config.pluginmanager.register(GoldenSession(config), _SESSION)
    return cast("GoldenSession", config.pluginmanager.get_plugin(_SESSION))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Refuse markers without effect: such a test would pass without a check."""
    for item in items:
        if item.get_closest_marker("golden") and not isinstance(item, pytest.Function):
            raise pytest.UsageError(f"{item.nodeid}: only functions can be marked with `golden`")
        if item.get_closest_marker("golden") and not hasattr(item, "callspec"):
            raise pytest.UsageError(
                f"{item.nodeid}: methods of unittest cannot be marked with `golden`"
            )


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """The golden case of a test that carries the marker `golden`."""
    if not request.node.get_closest_marker("golden"):
        raise pytest.UsageError("mark the test with @pytest.mark.golden(PATH) to use `golden`")
    return _session(request.config).golden(request.node)
