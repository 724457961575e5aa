from __future__ import annotations

from carob.versions.version_field import set_version


def test_only_the_version_of_the_document_is_touched():
    data = b'{"examples": [{"version": "1.0.0"}],\r\n\t"version" :"1.0.0"}'
    assert (
        set_version(data, "1.1.0")
        == b'{"examples": [{"version": "1.0.0"}],\r\n\t"version" :"1.1.0"}'
    )


def test_a_version_that_is_not_there_comes_after_the_name():
    data = b'{\n    "name": "a \\" b",\n    "examples": []\n}\n'
    wanted = b'{\n    "name": "a \\" b",\n    "version": "1.0.0",\n    "examples": []\n}\n'
    assert set_version(data, "1.0.0") == wanted


def test_what_one_edit_cannot_do_is_left_to_others():
    assert set_version(b'{"examples": []}', "1.0.0") is None
    assert set_version(b'{"version": 1}', "1.0.0") is None
    assert set_version(b"[]", "1.0.0") is None
    assert set_version(b"\xff", "1.0.0") is None
