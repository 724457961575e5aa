"""Mask personal data and secrets in golden data.

Each match is replaced by a placeholder. The same number or address gets the same placeholder
everywhere, however it is written, so that an argument still equals the message it was taken from.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, cast

import msgspec

from carob.errors import UsageError, install_hint
from carob.schema import Case, Json
from carob.schema.base import prepare_type

if TYPE_CHECKING:
    from carob.text.sensitive import SensitiveKind, SensitiveMatch


class Masks:
    """Replaces matches by placeholders: `<email-1>`, `<phone-1>`, `<email-2>`. `region` is the
    country code for phone numbers that have none."""

    def __init__(self, region: str | None = None) -> None:
        # Late: servers and most commands mask nothing, and its patterns take long to compile.
        from carob.text.sensitive import KINDS, find_sensitive, missing_packages

        missing = missing_packages()
        if missing:
            raise UsageError(
                f"masking requires the package {next(iter(missing.values()))!r}, "
                "which is not installed",
                hint=install_hint("pii"),
            )
        self._placeholders: dict[tuple[SensitiveKind, str], str] = {}
        self._counts: dict[str, int] = {}
        self._find = partial(find_sensitive, region=region)
        self._pattern = re.compile(rf"<({'|'.join(KINDS)})-(\d{{1,9}})>")

    def reserve(self, text: str) -> None:
        """Do not reuse the placeholders in `text`: they stand for other people."""
        if "<" in text:
            for kind, number in self._pattern.findall(text):
                self._counts[kind] = max(self._counts.get(kind, 0), int(number))

    def mask(self, text: str, is_masked: Callable[[SensitiveMatch], bool] = lambda _: True) -> str:
        """The text with each match that `is_masked` accepts replaced by a placeholder."""
        # Repeat, because the rest of a text can match once a neighbor is masked.
        while matches := [match for match in self._find(text) if is_masked(match)]:
            parts: list[str] = []
            end = 0
            for match in matches:
                parts += [text[end : match.start], self._placeholder(match.kind, match.normalized)]
                end = match.end
            text = "".join([*parts, text[end:]])
        return text

    def _placeholder(self, kind: SensitiveKind, normalized: str) -> str:
        placeholder = self._placeholders.get((kind, normalized))
        if placeholder is None:
            number = self._counts[kind] = self._counts.get(kind, 0) + 1
            placeholder = self._placeholders[kind, normalized] = f"<{kind}-{number}>"
        return placeholder


def mask_case(case: Case, masks: Masks) -> Case:
    """The case with every match masked, except in its id and metadata (and thus its lineage)."""
    document = cast("dict[str, Json]", msgspec.json.decode(msgspec.json.encode(case)))
    masked = {
        name: value if name in {"id", "metadata"} else _mask_value(value, masks)
        for name, value in document.items()
    }
    return case if masked == document else msgspec.convert(masked, prepare_type(Case))


def _mask_value(value: Json, masks: Masks) -> Json:
    if isinstance(value, str):
        return masks.mask(value)
    if isinstance(value, list):
        return [_mask_value(item, masks) for item in value]
    if isinstance(value, dict):
        return {masks.mask(key): _mask_value(item, masks) for key, item in value.items()}
    return value
