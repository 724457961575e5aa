"""`--fix`: personal data and secrets masked in the file, and nothing else changed."""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Mapping, Sequence
from io import BytesIO

from carob.datasets.lint.check import Item, Path
from carob.datasets.lint.edit import Change, edit_json, edit_table
from carob.datasets.lint.privacy import every_text, is_allowed, rule_of
from carob.datasets.masking import Masks
from carob.datasets.read import Opened
from carob.datasets.sidecar import aside_path
from carob.errors import InputError, UsageError
from carob.files.atomic import replace
from carob.text.sensitive import Piece

_BOM = b"\xef\xbb\xbf"
_GZIP = b"\x1f\x8b"


class Fix:
    """One file, whose cases are known."""

    def __init__(self, opened: Opened, items: Sequence[Item], silenced: frozenset[str]) -> None:
        self._opened = opened
        self._items = items
        self._silenced = silenced
        self._masks = Masks()
        self.count = 0
        """How many texts were changed."""

    def write(self) -> None:
        """Mask the file; it is written only if there is something to mask."""
        path = self._opened.source.path
        if aside_path(path).exists():
            raise UsageError(
                f"what was carried along for the way back lies in {aside_path(path).name}",
                where=str(path),
                hint="convert it back and mask the original, or delete that file",
            )
        try:
            raw = path.read_bytes()
            data = gzip.decompress(raw) if raw.startswith(_GZIP) else raw
        except (OSError, EOFError) as error:
            raise InputError(f"cannot be read: {error}", where=str(path)) from error
        for doc in (self._opened.frame, *(item.doc for item in self._items)):
            for _, text in every_text(doc):
                self._masks.reserve(text)
        made = self._masked(data)
        if made != data:
            replace(path, gzip.compress(made, mtime=0) if raw.startswith(_GZIP) else made)

    def _masked(self, data: bytes) -> bytes:
        bom = _BOM if data.startswith(_BOM) else b""
        body = data.removeprefix(_BOM)
        match self._opened.source.container:
            case "table":
                silenced = self._silenced_lines()
                return (
                    bom
                    + edit_table(
                        body.decode(),
                        lambda line, column, text: self._mask((column,), text, silenced.get(line)),
                    ).encode()
                )
            case "rows":
                return bom + b"".join(self._rows(body))
            case "document":
                return bom + edit_json(body, self._in_document())

    def _rows(self, body: bytes) -> Iterator[bytes]:
        silenced = self._silenced_lines()
        for number, line in enumerate(BytesIO(body), 1):
            own = silenced.get(number)
            yield edit_json(line, lambda path, text, own=own: self._mask(path, text, own))

    def _silenced_lines(self) -> Mapping[int, frozenset[str]]:
        return {item.place.line or 1: item.place.silenced for item in self._items}

    def _in_document(self) -> Change:
        bases = {item.place.base: item.place.silenced for item in self._items}
        lengths = {len(base) for base in bases}

        def change(path: Path, text: str) -> str:
            own = next((bases[path[:size]] for size in lengths if path[:size] in bases), None)
            return self._mask(path, text, own)

        return change

    def _mask(self, path: Path, text: str, silenced: frozenset[str] | None) -> str:
        ignored = self._silenced | (silenced or frozenset())

        def wanted(piece: Piece) -> bool:
            return rule_of(piece) not in ignored and not is_allowed(piece, path)

        new = self._masks.masked(text, wanted)
        self.count += new != text
        return new
