"""What commands take in the same way."""

from __future__ import annotations

from pathlib import Path

import click

FILE = click.Path(readable=False, path_type=Path)  # whoever reads it says what is wrong with it
from_format = click.option(
    "--from", "name", help="Format of the file, if it is not to be recognised."
)
