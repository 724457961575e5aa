"""ADK agents: an agent or App object in this process, or a server of `adk api_server`.

The session document is believed, not the replies: it has the user's messages, all events and the
final state, and the reader of ADK sessions turns it into a trace.
"""

from __future__ import annotations

import time
from importlib.util import find_spec
from typing import Any
from urllib.parse import quote

import msgspec

from carob.errors import UsageError
from carob.lazy import load_object, load_reference
from carob.schema import Case, Json, TargetSettings, Trace, Turn
from carob.targets.adk_mocks import make_mock_plugin
from carob.targets.http import HttpClient, check_address
from carob.targets.mocks import STATE_DELTAS
from carob.targets.target import (
    FIRST_TOKENS,
    Attempt,
    Capability,
    Conversation,
    Target,
    TargetError,
    TurnContext,
)
from carob.traces.messages.adk import event_turns, results_of, session_trace
from carob.traces.shape import as_object, fold_keys, objects_in

_SHOWN: frozenset[Capability] = frozenset(
    ("state_in", "state_out", "calls", "results", "usage", "agents", "stream")
)


def open_adk(settings: TargetSettings) -> Target:
    """Open `adk:package.module:root_agent`, `adk:agent.py:root_agent` or `adk:http://HOST/APP`."""
    rest = settings.name.partition(":")[2]
    if rest.startswith(("http://", "https://")):
        return AdkServer(settings, check_address(rest, settings.name))
    if find_spec("google") is None or find_spec("google.adk") is None:
        message = "the package 'google-adk' is not installed"
        hint = "run Carob with the Python that your agent runs with: pip install google-adk"
        raise UsageError(message, where=settings.name, hint=hint)
    return AdkObject(settings.name, load_reference(rest, settings.name))


def _user(case: Case) -> str:
    return case.session.user if case.session and case.session.user else "carob"


class _Turns:
    """The events of a conversation, turn by turn, and the times until the first of them."""

    def __init__(self) -> None:
        self.first: list[Json] = []

    def turn(self, events: list[Json], started: int, first: int | None) -> Turn:
        self.first.append(None if first is None else round((first - started) / 1e6))
        turns = event_turns(events)
        return turns[-1] if turns else Turn(tool_calls=())

    def document(self, session: Json) -> Trace:
        trace = session_trace(session, source="session")
        attributes: dict[str, Json] = {**trace.attributes, FIRST_TOKENS: self.first}
        if deltas := _state_deltas(session):
            attributes[STATE_DELTAS] = deltas
        return msgspec.structs.replace(trace, source=None, attributes=attributes)


def _state_deltas(session: Json) -> dict[str, Json]:
    """Return what each tool call wrote to the state: a mocked tool writes nothing by itself."""
    deltas: dict[str, Json] = {}
    for event in map(fold_keys, objects_in(fold_keys(as_object(session)).get("events"))):
        delta = as_object(fold_keys(as_object(event.get("actions"))).get("statedelta"))
        results = results_of(event.get("content"))
        if delta and len(results) == 1 and results[0].id:
            deltas[results[0].id] = delta
    return deltas


class AdkServer:
    """An agent behind ADK's HTTP API."""

    can = _SHOWN

    def __init__(self, settings: TargetSettings, url: str) -> None:
        base, _, app = url.rpartition("/")
        if not app or base.endswith(("/", ":")):
            hint = "such as adk:http://127.0.0.1:8000/shop"
            raise UsageError("the URL names no app", where=settings.name, hint=hint)
        self.name = settings.name
        self.params: dict[str, Json] = {}
        self.base, self.app = base, app
        self.client = HttpClient(settings)

    async def open(self, case: Case, attempt: Attempt) -> Conversation:
        """Create a session with the initial state."""
        user = quote(_user(case), safe="")
        url = f"{self.base}/apps/{quote(self.app, safe='')}/users/{user}/sessions"
        body: Json = {"session_id": attempt.session, "state": dict(attempt.state)}
        # The second form is that of servers before 2.0, whose body is the state itself.
        answer = await self.client.request("POST", url, body, accept=(404, 405, 422))
        if answer.status >= 400:
            await self.client.request("POST", f"{url}/{attempt.session}", dict(attempt.state))
            return _ServerConversation(self, _user(case), attempt.session, url)
        session = answer.value.get("id") if isinstance(answer.value, dict) else None
        if not isinstance(session, str):
            raise TargetError("protocol", "the server created no session", reached=False)
        return _ServerConversation(self, _user(case), session, url)

    async def close(self) -> None:
        """Close all connections."""
        await self.client.close()


class _ServerConversation(_Turns):
    def __init__(self, target: AdkServer, user: str, session: str, sessions_url: str) -> None:
        super().__init__()
        self._target, self._user, self._session = target, user, session
        self._url = f"{sessions_url}/{quote(session, safe='')}"

    async def say(self, message: str, turn: TurnContext) -> Turn:
        """Send a message. Unlike `/run`, `/run_sse` says which error the agent raised."""
        body: Json = {
            "app_name": self._target.app,
            "user_id": self._user,
            "session_id": self._session,
            "new_message": {"role": "user", "parts": [{"text": message}]},
        }
        started, first = time.time_ns(), None
        events: list[Json] = []
        headers = {"traceparent": turn.traceparent}
        url = f"{self._target.base}/run_sse"
        async with self._target.client.stream(url, body, headers=headers) as stream:
            async for item in stream:
                event = as_object(item.json())
                first = first or time.time_ns()
                if "error" in event and "author" not in event:
                    raise TargetError("agent", self._target.client.redact(str(event["error"])))
                events.append(event)
        return self.turn(events, started, first)

    async def close(self) -> Trace | None:
        """Read the session document."""
        answer = await self._target.client.request("GET", self._url)
        return self.document(answer.value)


class AdkObject:
    """An agent, or an App, in this process."""

    can: frozenset[Capability] = frozenset((*_SHOWN, "mocks"))

    def __init__(self, name: str, agent: Any) -> None:
        if not (hasattr(agent, "root_agent") or hasattr(agent, "run_async")):
            hint = "expected an ADK agent or an App"
            raise UsageError(f"{agent!r:.80} is not an agent", where=name, hint=hint)
        self.name = name
        self.params: dict[str, Json] = {}
        self._agent = agent

    async def open(self, case: Case, attempt: Attempt) -> Conversation:
        """Make a runner, and a session with the initial state."""
        make_runner = load_object("google.adk.runners:InMemoryRunner")  # optional, and slow
        plugins = [make_mock_plugin(attempt.mocks)] if attempt.mocks is not None else []
        runner: Any
        if not hasattr(self._agent, "run_async"):  # an App, which keeps its own plugins
            own = [*getattr(self._agent, "plugins", ()), *plugins]
            runner = make_runner(app=self._agent.model_copy(update={"plugins": own}))
        else:
            app = case.session.app if case.session and case.session.app else "carob"
            runner = make_runner(agent=self._agent, app_name=app, plugins=plugins)
        session = await runner.session_service.create_session(
            app_name=runner.app_name,
            user_id=_user(case),
            state=dict(attempt.state),
            session_id=attempt.session,
        )
        return _ObjectConversation(runner, _user(case), session.id)

    async def close(self) -> None:
        """Do nothing: runners are closed with their conversations."""


class _ObjectConversation(_Turns):
    def __init__(self, runner: Any, user: str, session: str) -> None:
        super().__init__()
        self._runner, self._user, self._session = runner, user, session

    async def say(self, message: str, turn: TurnContext) -> Turn:
        """Run the agent once."""
        types = load_object("google.genai:types")
        content = types.Content(role="user", parts=[types.Part(text=message)])
        started, first = time.time_ns(), None
        events: list[Json] = []
        async for event in self._runner.run_async(
            user_id=self._user, session_id=self._session, new_message=content
        ):
            first = first or time.time_ns()
            events.append(event.model_dump(mode="json", by_alias=True, exclude_none=True))
        return self.turn(events, started, first)

    async def close(self) -> Trace | None:
        """Read the session, then close the runner."""
        session = await self._runner.session_service.get_session(
            app_name=self._runner.app_name, user_id=self._user, session_id=self._session
        )
        await self._runner.close()
        return self.document(session.model_dump(mode="json", by_alias=True, exclude_none=True))
