"""Traces on disk while they are scored, so that they can be saved without reading files again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import msgspec

from carob.runner.job import Batch
from carob.runner.pairing import Pair
from carob.schema import Trace
from carob.schema.base import prepare_type


class TraceSpool:
    """Copies the traces of batches to a folder while the batches are scored.

    A file per batch, because batches are scored in any process and in any order; and a file rather
    than memory, because a run may have more traces than fit into it. With `drop_spans`, scoring
    does not see the spans that were read for the copy only: an evaluator that receives the whole
    trace would score it differently if it is saved.
    """

    def __init__(self, folder: Path, batches: Sequence[Batch], *, drop_spans: bool = False) -> None:
        self._folder, self._sources = folder, batches
        self.batches: list[Batch] = [
            partial(_copy_traces, batch, self._file(number), drop_spans)
            for number, batch in enumerate(batches)
        ]
        """The batches to score in place of the original ones."""

    def traces(self) -> Iterator[Trace]:
        """Yield all traces in the order of the batches."""
        for number, source in enumerate(self._sources):
            file = self._file(number)
            if file.exists():
                with file.open("rb") as lines:
                    yield from map(msgspec.json.Decoder(prepare_type(Trace)).decode, lines)
            else:  # scored by an earlier attempt, whose journal holds results but no traces
                yield from map(_trace, source())

    def _file(self, number: int) -> Path:
        return self._folder / f"{number}.jsonl"


def _copy_traces(batch: Batch, file: Path, drop_spans: bool) -> Iterator[Trace | Pair]:
    encode = msgspec.json.Encoder().encode
    with file.open("wb") as lines:
        for item in batch():
            lines.write(encode(_trace(item)) + b"\n")
            if drop_spans and isinstance(item, Trace) and item.spans:
                yield msgspec.structs.replace(item, spans=())
            else:
                yield item


def _trace(item: Trace | Pair) -> Trace:
    return item.trace if isinstance(item, Pair) else item
