from __future__ import annotations

from carob.versions.version_field import set_version


def test_only_the_version_of_the_document_changes():
    data = b'{"examples": [{"version": "1.0.0"}],\r\n\t"version" :"1.0.0"}'
    assert (
        set_version(data, "1.1.0")
        == b'{"examples": [{"version": "1.0.0"}],\r\n\t"version" :"1.1.0"}'
    )


def test_missing_version_is_added_after_the_name():
    data = b'{\n    "name": "a \\" b",\n    "examples": []\n}\n'
    expected = b'{\n    "name": "a \\" b",\n    "version": "1.0.0",\n    "examples": []\n}\n'
    assert set_version(data, "1.0.0") == expected


def test_version_is_not_set_in_an_unsupported_document():
    assert set_version(b'{"examples": []}', "1.0.0") is None
    assert set_version(b'{"version": 1}', "1.0.0") is None
    assert set_version(b"[]", "1.0.0") is None
    assert set_version(b"\xff", "1.0.0") is None
