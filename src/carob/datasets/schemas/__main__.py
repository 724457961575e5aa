"""Regenerate the JSON Schemas of the built-in formats."""

from __future__ import annotations

from carob.datasets.formats import BUILTIN, Format
from carob.datasets.schemas import build_schema, encode_schema, schema_path
from carob.lazy import load_object


def main() -> None:
    for reference in BUILTIN.values():
        form: Format = load_object(reference)()
        schema_path(form.name).write_bytes(encode_schema(build_schema(form)))


if __name__ == "__main__":
    main()
