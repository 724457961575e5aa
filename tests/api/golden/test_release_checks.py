"""Releases that are refused, and the ways out that a release records."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import UNSET

from carob.api import release as release_api
from carob.api import versions
from carob.api.golden.release_checks import check_synthetic
from carob.datasets.lint import privacy
from carob.errors import InputError, RefusedError, UsageError
from carob.schema import Case, Dataset, Json, Release
from carob.versions.registry import seal_release

TOPICS = ("account", "billing", "technical", "general")


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path / "registry"


def example(number: int, answer: str | None = None, *tags: str) -> dict[str, Json]:
    topic = TOPICS[number % 4]
    return {
        "input": f"How do I solve {topic} problem number {number}?",
        "expectedOutput": answer or f"Open the {topic} page and follow step {number}.",
        "tags": [topic, *tags],
    }


def write(*examples: dict[str, Json], name: str = "Customer Support Dataset") -> Path:
    file = Path("support.json")
    file.write_text(json.dumps({"name": name, "examples": list(examples)}, indent=2))
    return file


def release(file: Path, root: Path, **options: Any) -> Release:
    return release_api.release(file, registry=root, **options)


def test_changelog_of_the_golden_data_guide_can_be_made(root: Path):
    cases = [example(number) for number in range(25)]
    cases[11] = example(11, "You will recieve a link within 5 days.")
    release(write(*cases), root, date="2025-01-15")
    cases[11] = example(11, "You will receive a link within 5 days.")
    cases[20] = example(20, None, "escalation")
    cases += [example(4 * number + 1, None, "edge-case") for number in range(10, 15)]
    record = release(write(*cases), root, date="2025-01-20")
    assert (record.version, record.bump) == ("1.1.0", "minor")
    assert versions.changelog("Customer Support Dataset", registry=root) == (
        "# Customer Support Dataset Changelog\n"
        "\n"
        "## v1.1.0 (2025-01-20)\n"
        "- Added 5 examples covering: billing, edge-case ("
        + ", ".join(f'"How do I solve billing problem number {4 * n + 1}?"' for n in range(10, 15))
        + ")\n"
        "- Corrected the wording of the expected answer in 1 example"
        ' ("How do I solve general problem number 11?")\n'
        '- Added the tag "escalation" in 1 example ("How do I solve account problem number 20?")\n'
        "- Examples: 25 → 30\n"
        "\n"
        "## v1.0.0 (2025-01-15)\n"
        "- Initial release\n"
        "- 25 examples covering: account, billing, technical, general\n"
    )


def test_lower_version_with_a_reason_is_released_and_records_it(root: Path):
    release(write(example(1)), root)
    file = write(example(1, "Go to the billing page, then follow step 1."))
    with pytest.raises(RefusedError, match=r"version 1\.0\.1 is too low") as caught:
        release(file, root, bump="patch")
    assert "--because" in (caught.value.hint or "")
    record = release(file, root, bump="patch", because="the same in other words")
    assert (record.version, record.bump) == ("1.0.1", "major")
    assert record.because == "the same in other words"
    line = "- Released as patch, although the changes are major: the same in other words\n"
    assert line in versions.changelog("Customer Support Dataset", registry=root)
    assert versions.verify(registry=root) == ()


def test_reason_is_sealed(root: Path):
    release(write(example(1)), root)
    release(write(example(1, "Other.")), root, version="1.1.0", because="reworded")
    path = root / "customer-support-dataset" / "1.1.0" / "release.json"
    path.write_text(path.read_text().replace('"because": "reworded"', '"because": "checked"'))
    (problem, *_) = versions.verify(registry=root)
    assert "was edited" in problem.message


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"because": "why not"}, "a reason is only for a version that is lower"),
        ({"bump": "major", "because": "why not"}, "a reason is only for a version that is lower"),
        ({"bump": "patch", "because": "  "}, "the reason for the version is empty"),
    ],
)
def test_reason_that_explains_nothing_is_an_error(
    root: Path, options: dict[str, str], message: str
):
    with pytest.raises(UsageError, match=message):
        release(write(example(1)), root, **options)
    release(write(example(1)), root)
    with pytest.raises(UsageError, match=message):
        release(write(example(1, "Other.")), root, **options)


def test_lint_errors_are_refused_and_shown_masked(root: Path):
    file = write(example(1, "Ask jo.baker@bikemail.net."), example(2, "Yes."), example(2, "Never."))
    with pytest.raises(RefusedError, match="2 lint errors in support") as caught:
        release(file, root)
    assert "[C101]" in str(caught.value)
    assert "[C203]" in str(caught.value)
    assert "jo.baker" not in str(caught.value)
    assert not root.exists()


def test_release_without_lint_records_it(root: Path):
    record = release(write(example(1, "Ask jo.baker@bikemail.net.")), root, lint=False)
    assert record.lint == "skipped"
    log = versions.changelog("Customer Support Dataset", registry=root)
    assert "- Released without linting\n" in log
    assert release(write(example(1), example(2)), root).lint == "passed"


def test_configured_levels_and_ignored_rules_apply(root: Path):
    file = write(example(1, "Ask jo.baker@bikemail.net."), example(2, "Yes."), example(2, "No."))
    Path("carob.toml").write_text(
        '[lint]\nignore = ["pii-email"]\n[lint.levels]\ncontradiction = "warning"\n'
    )
    assert release(file, root).lint == "passed"


def test_rules_that_could_not_be_checked_are_recorded(root: Path, monkeypatch: pytest.MonkeyPatch):
    missing = {"phone": "phonenumbers"}
    monkeypatch.setattr("carob.datasets.lint.privacy.missing_packages", lambda: missing)
    assert release(write(example(1)), root).lint == "partial"


def test_release_dated_before_its_predecessor_is_refused(root: Path):
    release(write(example(1)), root, date="2025-01-15T10:30:00Z")
    file = write(example(1), example(2))
    with pytest.raises(RefusedError, match=r"before release 1\.0\.0 of 2025-01-15T10:30:00Z"):
        release(file, root, date="2025-01-14")
    with pytest.raises(RefusedError, match=r"before release 1\.0\.0"):
        release(file, root, date="2025-01-15T10:29:00Z")
    assert release(file, root, date="2025-01-15").version == "1.1.0"


def test_misspelled_name_with_the_cases_of_another_dataset_is_refused(root: Path):
    cases = [example(number) for number in range(8)]
    release(write(*cases), root)
    file = write(*cases[:6], example(30), name="Custommer Support Dataset")
    with pytest.raises(RefusedError, match="6 of its 7 cases are those of 'Customer Support Data"):
        release(file, root)
    assert release(file, root, new_dataset=True).version == "1.0.0"


def test_similar_name_with_other_cases_is_released(root: Path):
    release(write(example(1), example(2)), root)
    other = write(example(2), example(31), example(32), name="Customer Support Dataset 2")
    assert release(other, root).version == "1.0.0"


def test_merge_conflict_in_the_registry_is_named_as_one(tmp_path: Path, root: Path):
    def git(*words: str, check: bool = True) -> None:
        user = ["-c", "user.name=Lena", "-c", "user.email=lena@example.com"]
        subprocess.run(
            ["git", "-C", str(tmp_path), *user, *words], check=check, capture_output=True
        )

    def release_on(branch: str, *examples: dict[str, Json]) -> None:
        git("checkout", "-q", "-b", branch, "base")
        release(write(*examples), root, date="2026-01-02")
        git("add", ".")
        git("commit", "-qm", branch)

    git("init", "-q", "-b", "base")
    release(write(example(1)), root, date="2026-01-01")
    git("add", ".")
    git("commit", "-qm", "first")
    release_on("left", example(1), example(2))
    release_on("right", example(1, "Other."))
    git("merge", "left", check=False)
    write(example(1), example(5))
    with pytest.raises(InputError, match="has an unresolved git merge conflict") as caught:
        release(Path("support.json"), root)
    assert "two branches released this dataset" in (caught.value.hint or "")
    with pytest.raises(InputError, match="has an unresolved git merge conflict"):
        versions.versions(registry=root)
    with pytest.raises(InputError, match="has an unresolved git merge conflict"):
        versions.changelog("customer-support-dataset", registry=root)
    problems = [problem.message for problem in versions.verify(registry=root)]
    assert "has an unresolved git merge conflict" in problems


def test_older_record_without_the_new_fields_keeps_its_seal(root: Path):
    record = release(write(example(1)), root)
    old = seal_release(msgspec.structs.replace(record, lint=UNSET, because=UNSET))
    path = root / "customer-support-dataset" / "1.0.0" / "release.json"
    path.write_bytes(msgspec.json.encode(old))
    assert b"lint" not in path.read_bytes()
    assert versions.versions(registry=root) == (old,)


def test_synthetic_cases_need_a_review_or_a_permission():
    draft = Case.of("Are you open?", id="a", metadata={"source": "synthetic"})
    reviewed = Case.of(
        "Do you ship?", id="b", metadata={"source": "synthetic", "review_status": "reviewed"}
    )
    dataset = Dataset(name="garden", cases=(draft, reviewed))
    with pytest.raises(RefusedError, match=r"nobody has reviewed \(1\): a"):
        check_synthetic(dataset, allow=False)
    assert check_synthetic(dataset, allow=True) == 1
    assert check_synthetic(dataset.with_cases([reviewed]), allow=False) == 0


def test_release_records_that_rules_could_not_be_checked(
    root: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(privacy, "missing_packages", lambda: {"phone": "phonenumbers"})
    assert release(write(example(1)), root).lint == "partial"
