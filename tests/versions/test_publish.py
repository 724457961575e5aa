"""Releases survive kills at any moment and concurrent processes."""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from carob.api import release as release_api
from carob.api import versions as versions_api
from carob.errors import OutputError, RefusedError
from carob.versions import publish

pytestmark = pytest.mark.skipif(os.name != "posix", reason="kills processes")
FORK = multiprocessing.get_context("fork")


def golden(folder: Path, cases: int, file: str = "support.json") -> Path:
    path = folder / file
    examples = [{"input": f"Question {n}?", "expectedOutput": "Yes."} for n in range(cases)]
    path.write_text(json.dumps({"name": "support", "version": "1.0.0", "examples": examples}))
    return path


def in_child(work: Callable[[], None]) -> int:
    """Fork a child that does the work and exits without cleanup; return its process id."""
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException:  # noqa: BLE001 - nothing of the child may reach the test runner
            os._exit(1)
        os._exit(0)
    return child


def expect_complete(root: Path) -> list[str]:
    """Expect every release to be complete and listed in the changelog."""
    assert versions_api.verify(registry=root) == ()
    versions = [release.version for release in versions_api.versions(registry=root)]
    for version in versions:
        log = (root / "support" / version / "CHANGELOG.md").read_text()
        assert log.count("\n## v") == versions.index(version) + 1
    return versions


def die_at(step: int, root: Path) -> None:
    """Kill this process when it is about to touch the registry for the n-th time."""
    touched = 0

    def hook(event: str, args: tuple[object, ...]) -> None:
        nonlocal touched
        touches = event in (
            "open",
            "os.mkdir",
            "os.rename",
            "os.remove",
            "os.rmdir",
            "shutil.rmtree",
        )
        if touches and any(str(arg).startswith(str(root.parent)) for arg in args):
            touched += 1
            if touched == step:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)


@pytest.mark.parametrize("first", [True, False], ids=["the first release", "a later release"])
def test_kill_at_any_step_leaves_the_old_or_the_new_registry(tmp_path: Path, first: bool):
    step, ended = 0, -1
    while ended != 0:
        step += 1
        folder = tmp_path / str(step)
        folder.mkdir()
        root = folder / "registry"
        if not first:
            release_api.release(golden(folder, 1), registry=root)
        file = golden(folder, 2)

        def work(step: int = step, root: Path = root, file: Path = file) -> None:
            die_at(step, root)
            release_api.release(file, registry=root)

        ended = os.waitpid(in_child(work), 0)[1]
        before = [] if first else ["1.0.0"]
        after = [*before, "1.0.0" if first else "1.1.0"]
        releases = expect_complete(root)
        assert releases in (before, after)
        if releases == before:
            release_api.release(file, registry=root)
        assert expect_complete(root) == after
        assert not list(root.glob(".staging-*")) or releases == after
    assert step > 20


def test_kills_at_random_times_lose_no_release_and_leave_none_incomplete(tmp_path: Path):
    root = tmp_path / "registry"
    expected: list[str] = []

    def work(last: int = 1000) -> None:
        for cases in range(len(expected) + 1, last + 1):
            release_api.release(golden(tmp_path, cases), registry=root)

    started = time.monotonic()
    assert os.waitpid(in_child(lambda: work(1)), 0)[1] == 0
    seconds = time.monotonic() - started  # of one release, however busy the machine is
    for _ in range(20):
        child = in_child(work)
        time.sleep(random.uniform(0, 2 * seconds))  # noqa: S311 - any time will do
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        releases = expect_complete(root)
        assert releases[: len(expected)] == expected
        expected = releases
    assert len(expected) > 1


def test_exactly_one_of_many_concurrent_releases_wins(tmp_path: Path):
    root = tmp_path / "registry"
    release_api.release(golden(tmp_path, 1), registry=root)
    files = [golden(tmp_path, 2 + number, f"{number}.json") for number in range(6)]
    outcomes = FORK.SimpleQueue()

    def work(file: Path) -> None:
        try:
            release_api.release(file, version="1.1.0", registry=root)
            outcomes.put("won")
        except RefusedError as error:
            outcomes.put(error.message)

    workers = [FORK.Process(target=work, args=(file,)) for file in files]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    results = sorted(outcomes.get() for _ in workers)
    assert results == ["version 1.1.0 is already released"] * 5 + ["won"]
    assert expect_complete(root) == ["1.0.0", "1.1.0"]


def test_without_locks_the_rename_decides(tmp_path: Path):
    folder = tmp_path / "support" / "1.0.0"
    with (
        publish.stage_release(tmp_path, folder) as first,
        publish.stage_release(tmp_path, folder) as second,
    ):
        first.write("a", b"1")
        second.write("a", b"2")
        first.publish()
        with pytest.raises(RefusedError, match="already released"):
            second.publish()
    assert (folder / "a").read_bytes() == b"1"
    assert [path.name for path in tmp_path.iterdir()] == ["support"]


def test_atomic_write_leaves_no_temporary_files(tmp_path: Path):
    publish.write_atomically(tmp_path, "support.json", b"1")
    publish.write_atomically(tmp_path, "support.json", b"2")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"support.json": b"2"}


def test_leftovers_of_a_crash_are_ignored_by_git(tmp_path: Path):
    with publish.stage_release(tmp_path, tmp_path / "support" / "1.0.0") as stage:
        assert (stage.path.parents[1] / ".gitignore").read_text() == "*\n"


def test_registry_that_cannot_be_created_is_an_error_with_its_path(tmp_path: Path):
    (tmp_path / "registry").write_text("a file")
    with pytest.raises(OutputError, match="cannot be written"):
        release_api.release(golden(tmp_path, 1), registry=tmp_path / "registry")
