from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from carob.config.config_file import MAX_BYTES, parse_document, read_document
from carob.errors import FormatError, InputError, UsageError, install_hint


@pytest.mark.parametrize(
    ("text", "syntax"),
    [
        ('{"criteria": {}}', "json"),
        ("\n# mine\n[run]\ngolden = 'a'\n", "toml"),
        ("golden = 'a'", "toml"),
        ('"a b".c = 1', "toml"),
        ("", "toml"),
        ("# theirs\nevaluators:\n- name: x\n", "yaml"),
        ("---\nevaluators: []\n", "yaml"),
    ],
)
def test_syntax_is_detected_from_content(text: str, syntax: str):
    assert parse_document(text, source="config").syntax == syntax


def test_location_has_a_line_if_the_key_is_unique():
    doc = parse_document("[a]\nx = 1\n[b]\nx = 2\ny = 3\n", source="carob.toml")
    assert doc.where("b.y") == "carob.toml line 5, b.y"
    assert doc.where("b.x") == "carob.toml, b.x"
    assert doc.where("") == "carob.toml"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[run\n", "not valid TOML: "),
        ('{"a": 1,}', "not valid JSON: .* (at|line) "),
        ('{"a": 1, "a": 2}', "duplicate key 'a'"),
        ('{"a": NaN}', "a: nan is not a finite number"),
        ("a = 1\na = 2", "not valid TOML: "),
        ("a = 2026-01-01", "a: 2026-01-01 is a date; quote it"),
        ("a = [1, inf]", r"a\[1\]: inf is not a finite number"),
        ("a: [1\nb: 2", r"not valid YAML: .*expected .* \(at line 2\)"),
        ("a: 1\na: 2", r"duplicate key 'a' \(at line 2\)"),
        ("a: [1]\nb: *x", r"unknown alias 'x' \(at line 2\)"),
        ("1: a", r"expected a text key \(at line 1\)"),
        ("a: !!python/name:os.system x", "not valid YAML: tags are not supported"),
        ("just text", "expected a table of settings, got a str"),
        ("a = " + "[" * 5000, "nested too deeply"),
        ('{"a": ' + "[" * 100_000, "nested too deeply"),
        ("a: " + "[" * 2000 + "]" * 2000, r"nested deeper than 100 levels \(at line 1\)"),
        ("a = " + "9" * 400, "a: the number is larger than"),
        ('{"a": [-' + "9" * 400 + "]}", r"a\[0\]: the number is larger than"),
    ],
)
def test_invalid_syntax_is_an_error_with_the_file_name(text: str, message: str):
    with pytest.raises(FormatError, match=message):
        parse_document(text, source="config")


@pytest.mark.parametrize(
    ("level", "message"),
    [
        ("[", "nested deeper than 100 levels"),
        ("{a: ", "nested deeper than 100 levels"),
        ("- ", "nested deeper than 100 levels"),
        ("? ", "expected a text key"),
    ],
)
def test_deeply_nested_yaml_is_rejected_at_once(level: str, message: str):
    start = time.process_time()
    with pytest.raises(FormatError, match=message):
        parse_document("a:\n  " + level * 20_000, source="config")
    assert time.process_time() - start < 1


def test_byte_order_mark_and_windows_line_endings_are_accepted(tmp_path: Path):
    path = tmp_path / "carob.toml"
    path.write_bytes(b'\xef\xbb\xbf[run]\r\ngolden = "a"\r\n')
    assert read_document(path).value == {"run": {"golden": "a"}}


def test_unreadable_file_is_an_error(tmp_path: Path):
    big, latin = tmp_path / "big.json", tmp_path / "latin.toml"
    big.write_bytes(b" " * (MAX_BYTES + 1))
    latin.write_bytes(b"a = '\xe4'")
    for path, message in {
        tmp_path / "none": "no such file",
        tmp_path: "not a file",
        big: "too large for a config",
        latin: "not UTF-8 text",
    }.items():
        with pytest.raises(InputError, match=message):
            read_document(path)


def test_yaml_without_its_library_hints_at_the_package(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(UsageError, match="reading YAML requires the package 'PyYAML'") as caught:
        parse_document("evaluators: []", source="config")
    assert caught.value.hint == install_hint("yaml")
