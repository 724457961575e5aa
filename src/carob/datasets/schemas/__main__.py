"""Write the JSON Schemas of the built-in formats anew."""

from __future__ import annotations

from importlib.metadata import entry_points

from carob.datasets.formats import Format
from carob.datasets.schemas import encoded, schema_of, schema_path


def main() -> None:
    for point in entry_points(group="carob.formats"):
        if point.module.startswith("carob."):
            form: Format = point.load()()
            schema_path(form.name).write_bytes(encoded(schema_of(form)))


if __name__ == "__main__":
    main()
