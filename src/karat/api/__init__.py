"""The use-cases. The command line, the server and the pytest plugin call only these."""

from karat.api.golden import convert, json_schema, load, save, subset, summarise, validate

__all__ = ["convert", "json_schema", "load", "save", "subset", "summarise", "validate"]
