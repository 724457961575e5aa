"""Decode OTLP/HTTP exports into OTLP JSON.

This uses the protobuf classes of OpenTelemetry, not Carob's reader, which the captures test.
"""

from __future__ import annotations

import base64
import json
from typing import Any, cast

from google.protobuf.json_format import MessageToDict
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

_REQUESTS = {"spans": ExportTraceServiceRequest, "logs": ExportLogsServiceRequest}
_IDS = ("traceId", "spanId", "parentSpanId")


def decode_export(kind: str, body: bytes, *, is_json: bool) -> dict[str, Any]:
    """Return the body of an export request as OTLP JSON, whose ids are hexadecimal."""
    if is_json:
        return json.loads(body)
    export = MessageToDict(_REQUESTS[kind].FromString(body), use_integers_for_enums=True)
    _write_ids_as_hex(export)
    return export


def _write_ids_as_hex(value: Any) -> None:
    """Rewrite the ids, which protobuf's own JSON has in base64."""
    if isinstance(value, list):
        for item in cast("list[Any]", value):
            _write_ids_as_hex(item)
    elif isinstance(value, dict):
        table = cast("dict[str, Any]", value)
        for key, item in table.items():
            if key in _IDS and isinstance(item, str):
                table[key] = base64.b64decode(item).hex()
            else:
                _write_ids_as_hex(item)
