"""Encode values of one type, and decode them in any process."""

from __future__ import annotations

from functools import cached_property
from typing import Generic, TypeVar

import msgspec

from carob.schema.base import prepare_type
from carob.schema.case import Case
from carob.schema.run import CaseResult

T = TypeVar("T")


class JsonCodec(Generic[T]):
    """JSON of one type. Sent to another process, it builds its decoder there."""

    def __init__(self, kind: type[T]) -> None:
        self._kind = kind
        self.encode = msgspec.json.Encoder().encode

    def decode(self, data: bytes, /) -> T:
        return self._decoder.decode(data)

    @cached_property  # building a decoder takes longer than scoring a few traces
    def _decoder(self) -> msgspec.json.Decoder[T]:
        return msgspec.json.Decoder(prepare_type(self._kind))

    def __reduce__(self) -> tuple[type[JsonCodec[T]], tuple[type[T]]]:
        return type(self), (self._kind,)


class CompactCodec(Generic[T]):
    """MessagePack of one type, for files that only this program reads. What MessagePack cannot
    express, such as integers of more than 64 bits, is pickled."""

    def __init__(self, kind: type[T]) -> None:
        self._kind = kind
        self._encode = msgspec.msgpack.Encoder().encode

    def encode(self, item: T, /) -> bytes:
        try:
            return b"m" + self._encode(item)
        except (OverflowError, UnicodeEncodeError, TypeError):
            import pickle

            return b"p" + pickle.dumps(item)

    def decode(self, data: bytes, /) -> T:
        if data[:1] == b"m":
            return self._decoder.decode(memoryview(data)[1:])
        import pickle

        return pickle.loads(data[1:])  # noqa: S301 - written by this program

    @cached_property
    def _decoder(self) -> msgspec.msgpack.Decoder[T]:
        return msgspec.msgpack.Decoder(prepare_type(self._kind))

    def __reduce__(self) -> tuple[type[CompactCodec[T]], tuple[type[T]]]:
        return type(self), (self._kind,)


CASES = CompactCodec(Case)
"""How the cases of large datasets are encoded in scratch files."""
RESULTS = JsonCodec(CaseResult)
"""How results are encoded in files and in the store."""


class BytesCodec:
    """Leaves bytes as they are."""

    def encode(self, data: bytes, /) -> bytes:
        return data

    def decode(self, data: bytes, /) -> bytes:
        return data
