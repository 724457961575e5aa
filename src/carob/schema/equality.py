"""Whether two JSON values are equal."""

from __future__ import annotations

from carob.schema.base import Json


def json_equal(left: Json, right: Json) -> bool:
    """Compare JSON values: `1` equals `1.0`, but unlike in Python not `true`."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(
            json_equal(left[key], right[key]) for key in left
        )
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(json_equal, left, right))
    return left == right
