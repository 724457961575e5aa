"""A model that follows a script, and a receiver for what exporters send, on loopback.

The server logs every reply that it served. That log, not a trace, is the truth about a run.
"""

from __future__ import annotations

import gzip
import json
import re
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast
from urllib.parse import unquote

from tests.captures import provider_replies as replies
from tests.captures.otlp import decode_export
from tests.captures.platforms import (
    WEAVE_OBJECT,
    WEAVE_PROJECT,
    WEAVE_SERVER,
    OpikStore,
    WeaveStore,
)
from tests.captures.scenario import Call, Question, Reply, Scenario

_INSTRUCTIONS = re.compile(r"You are (\w+)\.")
_MODEL_PATHS = ("/chat/completions", "/responses", "/messages", "/converse")
_SSE = "text/event-stream"
_DONE = b"data: [DONE]\n\n"


@dataclass
class ServedCall:
    """A model call that the server answered."""

    question: int
    reply: Reply
    model: str
    usage: replies.Usage | None
    """`None` if the request did not ask for it."""
    counts_reasoning: bool = True


@dataclass
class Session:
    """One run of a framework: the script that is left, and what happened so far."""

    scenario: Scenario
    served: list[ServedCall] = field(default_factory=list[ServedCall])
    results: dict[str, str] = field(default_factory=dict[str, str])
    """What the framework told the model about each call, by the id of the call."""
    exported: list[tuple[str, Any]] = field(default_factory=list[tuple[str, Any]])
    """Exports and documents, each with its kind: `spans`, `logs` or `document`."""
    answers: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    """What the framework returned to the user, question by question."""
    errors: list[str] = field(default_factory=list[str])
    taken: set[tuple[int, int]] = field(default_factory=set[tuple[int, int]])
    """The replies that were served, each with the numbers of its question and of its place."""
    attempts: dict[tuple[int, int], int] = field(default_factory=dict[tuple[int, int], int])
    """The failures that were served, by reply."""
    platforms: tuple[OpikStore, WeaveStore] = field(
        default_factory=lambda: (OpikStore(), WeaveStore())
    )
    """What the SDKs of platforms sent in their own formats."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def exports(self) -> list[tuple[str, Any]]:
        """Return all that was exported, with what the platforms stored."""
        stored = [("document", item) for store in self.platforms for item in store.export()]
        return [*self.exported, *stored]

    def next_reply(self, request: dict[str, Any], model: str) -> ServedCall:
        """Take the next reply from the script; raises if the request does not belong to it."""
        with self.lock:
            number, index, reply = self._find_reply(json.dumps(request, ensure_ascii=False))
            self._check(request, reply, self.scenario.questions[number])
            self.results.update(find_results(request))
            attempt = self.attempts.get((number, index), 0)
            if attempt < len(reply.failures):
                self.attempts[number, index] = attempt + 1
                raise ModelFailureError(reply.failures[attempt])
            if reply.refusal is not None:
                raise ModelFailureError(reply.refusal)
            usage = replies.usage_of(len(self.served) + 1)
            call = ServedCall(number, reply, model, usage)
            self.served.append(call)
            self.taken.add((number, index))
            return call

    def _find_reply(self, request: str) -> tuple[int, int, Reply]:
        """The first reply that is left of the question that is being answered. A framework is done
        with a question when it reports the answer."""
        number = len(self.answers)
        questions = self.scenario.questions
        script = questions[number].replies if number < len(questions) else ()
        for index, reply in enumerate(script):
            if (number, index) not in self.taken and reply.about in request:
                return number, index, reply
        raise ScriptError(f"model call {len(self.served) + 1} is not in the script")

    def _check(self, request: dict[str, Any], reply: Reply, asked: Question) -> None:
        text = json.dumps(request, ensure_ascii=False)
        named = _INSTRUCTIONS.search(text)
        if named and named[1] != reply.agent:
            raise ScriptError(f"the script expects {reply.agent}, but {named[1]} asked")
        # A sub-agent may get other words than the user's, and the Responses API may be asked to
        # continue from what it stored.
        is_whole = reply.agent == asked.replies[0].agent and "previous_response_id" not in request
        if is_whole and _letters(asked.user) not in _letters(text):
            raise ScriptError(f"the request does not contain the user's text {asked.user!r}")


def _letters(text: str) -> str:
    """The text without what JSON writes in another way."""
    return re.sub(r"\\+[nrtbf]|\W", "", text)


def find_results(value: Any) -> Iterator[tuple[str, str]]:
    """Yield the tool results in a request of any provider, with the ids of their calls."""
    if isinstance(value, list):
        for item in cast("list[Any]", value):
            yield from find_results(item)
    elif isinstance(value, dict):
        table = cast("dict[str, Any]", value)
        call_id = table.get("tool_call_id") or table.get("call_id") or table.get("tool_use_id")
        call_id = call_id or table.get("toolUseId")
        result = table.get("content", table.get("output"))
        if isinstance(call_id, str) and result is not None:
            yield call_id, result if isinstance(result, str) else json.dumps(result)
        for item in table.values():
            yield from find_results(item)


class ScriptError(Exception):
    """A framework did not do what the scenario expects."""


class ModelFailureError(Exception):
    """A model call that fails, as the scenario has it."""

    def __init__(self, status: int) -> None:
        super().__init__(f"the model failed with {status}")
        self.status = status


class CaptureServer(ThreadingHTTPServer):
    """The scripted model and the receiver in one server."""

    daemon_threads = True
    session: Session

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def __enter__(self) -> CaptureServer:
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *args: object) -> None:
        self.shutdown()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: CaptureServer  # pyright: ignore[reportIncompatibleVariableOverride] - always this one

    def do_POST(self) -> None:
        try:
            self._route()
        except ScriptError as error:
            self.server.session.errors.append(str(error))
            # 400, because frameworks retry after other errors.
            self._send_json({"error": {"message": str(error), "type": "script"}}, status=400)
        except ModelFailureError as failure:
            error = {"message": str(failure), "type": "failure", "code": failure.status}
            self._send_json({"error": error}, status=failure.status)

    do_PUT = do_PATCH = do_POST

    def do_GET(self) -> None:
        self._send_json(WEAVE_SERVER if self.path.endswith("/server_info") else {})

    def log_message(self, format: str, *args: Any) -> None:
        """Be silent: the log of the session is what counts."""

    def _route(self) -> None:
        path = self.path.split("?")[0]
        body = self._read_body()
        if path.endswith(("/v1/traces", "/v1/logs")):
            kind = "spans" if path.endswith("traces") else "logs"
            is_json = "json" in self.headers.get("content-type", "")
            self.server.session.exported.append((kind, decode_export(kind, body, is_json=is_json)))
            self._send_json({})
        elif path.endswith(("/v1/traces/ingest", "/document")):
            self.server.session.exported.append(("document", json.loads(body)))
            self._send_json({})
        elif path.endswith("/replies"):
            self._replace_script(json.loads(body))
        elif path.endswith("/answer"):
            self.server.session.answers.append(json.loads(body))
            self._send_json({})
        elif path.endswith("/graphql"):
            self._send_json(WEAVE_PROJECT)
        elif path.endswith(("/obj/create", "/file/create", "/table/create")):
            self._send_json(WEAVE_OBJECT)
        elif path.endswith("/embeddings"):
            self._send_embeddings(json.loads(body))
        elif not self._save(path, body):
            self._answer(path, body)

    def _save(self, path: str, body: bytes) -> bool:
        """Save what an SDK sends to its platform; `False` if it is something else."""
        is_sent = "/v1/private/" in path or path.endswith("/calls/complete")
        content: dict[str, Any] = json.loads(body) if is_sent else {}
        if not any(store.save(path, content) for store in self.server.session.platforms if is_sent):
            return False
        self._send_json({})
        return True

    def _read_body(self) -> bytes:
        if "chunked" in self.headers.get("transfer-encoding", ""):
            body = b"".join(self._read_chunks())
        else:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
        return gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body

    def _read_chunks(self) -> Iterator[bytes]:
        while size := int(self.rfile.readline().split(b";")[0], 16):
            yield self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()

    def _replace_script(self, script: list[dict[str, Any]]) -> None:
        """Take the script of a framework that needs other replies, such as a final tool call."""
        session = self.server.session
        questions = tuple(
            Question(
                asked["user"],
                tuple(
                    Reply(
                        reply.get("text", ""),
                        tuple(
                            Call(call["name"], call["args"], call.get("raw"))
                            for call in reply.get("calls", ())
                        ),
                        reply["agent"],
                        **{
                            key: reply[key]
                            for key in ("reasoning", "refusal", "about")
                            if key in reply
                        },
                        failures=tuple(reply.get("failures", ())),
                    )
                    for reply in asked["replies"]
                ),
            )
            for asked in script
        )
        old = session.scenario
        session.scenario = replace(old, questions=questions)
        self._send_json({})

    def _answer(self, path: str, body: bytes) -> None:
        if not path.endswith(_MODEL_PATHS) and "enerateContent" not in path:
            self._send_json({})  # metrics, and telemetry of the framework itself
            return
        request = json.loads(body)
        if path.endswith("/converse"):
            request["model"] = unquote(path.split("/")[-2])
            self._send_json(replies.converse_output(self._next(request, counts_reasoning=False)))
            return
        if path.endswith("/chat/completions"):
            self._answer_chat(request)
        elif path.endswith("/responses"):
            served = self._next(request)
            if request.get("stream"):
                self._send_events(replies.stream_response(served), named=True)
            else:
                self._send_json(replies.response(served))
        elif path.endswith("/messages"):
            served = self._next(request, counts_reasoning=False)
            if request.get("stream"):
                self._send_events(replies.stream_anthropic_message(served), named=True)
            else:
                self._send_json(replies.anthropic_message(served))
        else:
            model = path.rpartition("/")[2].partition(":")[0]
            content = replies.gemini_content(self._next({**request, "model": model}))
            if "streamGenerateContent" in path:
                self._send_events([content])
            else:
                self._send_json(content)

    def _answer_chat(self, request: dict[str, Any]) -> None:
        served = self._next(request)
        if not request.get("stream"):
            self._send_json(replies.chat_completion(served))
            return
        options: dict[str, Any] = request.get("stream_options") or {}
        with_usage = bool(options.get("include_usage"))
        if not with_usage:
            self.server.session.served[served.number - 1].usage = None
        chunks = replies.stream_chat_completion(served, with_usage=with_usage)
        self._send_events(chunks, end=_DONE)

    def _next(self, request: dict[str, Any], *, counts_reasoning: bool = True) -> replies.Served:
        session = self.server.session
        model = str(request.get("model", ""))
        call = session.next_reply(request, model)
        call.counts_reasoning = counts_reasoning
        number = session.served.index(call) + 1
        return replies.Served(number, model, call.reply, replies.usage_of(number))

    def _send_embeddings(self, request: dict[str, Any]) -> None:
        asked: Any = request["input"]
        texts = cast("list[Any]", asked) if isinstance(asked, list) else [asked]
        rows = [
            {"object": "embedding", "index": index, "embedding": [1.0, float(index)]}
            for index in range(len(texts))
        ]
        usage = {"prompt_tokens": 5, "total_tokens": 5}
        self._send_json({"object": "list", "data": rows, "model": request["model"], "usage": usage})

    def _send_json(self, value: Any, status: int = 200) -> None:
        self._send(json.dumps(value).encode(), "application/json", status)

    def _send_events(
        self, events: Iterable[dict[str, Any]], *, named: bool = False, end: bytes = b""
    ) -> None:
        lines = [
            (f"event: {event['type']}\n" if named else "") + f"data: {json.dumps(event)}\n\n"
            for event in events
        ]
        self._send("".join(lines).encode() + end, _SSE, 200)

    def _send(self, body: bytes, content_type: str, status: int) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("retry-after-ms", "20")
        self.end_headers()
        self.wfile.write(body)
