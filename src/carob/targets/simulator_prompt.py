"""What the model that plays a user receives: the plan, the persona and the conversation so far."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from carob.errors import UsageError, install_hint
from carob.lazy import load_object
from carob.schema import Json, Scenario, ToolCall, ToolResult, Turn
from carob.targets.mocks import pop_call
from carob.traces.shape import as_array, objects_in

STOP = "</finished>"
"""A message that contains it, in any case, ends the conversation and is not sent."""
INSTRUCTIONS = f"""\
You play the user of an AI agent in a test. You write the user's next message, and nothing else.

How the user behaves:
- React to the agent's last message. Answer a question that it asks, only what is asked, and only
  with what the conversation plan says. What the plan does not say, the user does not know.
- When the current request is met, make the next request of the plan. Make one request at a time.
- When the agent gets something wrong, correct it once. If it fails a second time, give up.
- Never do the agent's work, and never mention the plan or that this is a test.

When everything in the plan is done, when the user has given up, or when the agent hands the
conversation over to a human, write {STOP} instead of a message."""
CUSTOM_INSTRUCTIONS = "Follow the instructions. Write the user's next message, and nothing else."
"""The task beside custom instructions, which are the whole prompt."""
PERSONAS = {
    "EXPERT": "The user knows the subject well, states precisely what is needed, gives several "
    "details at once, and wants no explanations of basics.",
    "NOVICE": "The user is new to the subject, uses everyday words, gives details only when asked, "
    "and asks what a term means that the agent does not explain.",
    "EVALUATOR": "The user tests the agent: follows the plan exactly, checks each answer against "
    "it, and is neither helpful nor chatty.",
}
"""What the predefined personas of ADK stand for."""
_REQUIRED = ("stop_signal", "conversation_plan", "conversation_history")


@dataclass(frozen=True)
class PersonaBehavior:
    """How a persona behaves. Names are those that ADK's templates use."""

    name: str
    description: str
    behavior_instructions: tuple[str, ...]
    violation_rubrics: tuple[str, ...]

    def get_behavior_instructions_str(self) -> str:
        """The instructions as a list."""
        return _bullets(self.behavior_instructions)

    def get_violation_rubrics_str(self) -> str:
        """The rubrics as a list."""
        return _bullets(self.violation_rubrics)


@dataclass(frozen=True)
class Persona:
    """Whom the simulated user plays."""

    id: str
    description: str
    behaviors: tuple[PersonaBehavior, ...] = ()


def _bullets(lines: Sequence[str]) -> str:
    return "\n".join(f"  * {line}" for line in lines)


def read_persona(persona: Json) -> Persona | None:
    """Return a persona: a predefined name, free text, or ADK's object."""
    if isinstance(persona, str) and persona:
        return Persona(persona, PERSONAS.get(persona, persona))
    if not isinstance(persona, dict):
        return None
    name = str(persona.get("id") or "")
    behaviors = (
        PersonaBehavior(
            str(behavior.get("name") or ""),
            str(behavior.get("description") or ""),
            tuple(map(str, as_array(behavior.get("behavior_instructions")))),
            tuple(map(str, as_array(behavior.get("violation_rubrics")))),
        )
        for behavior in objects_in(persona.get("behaviors"))
    )
    return Persona(name, str(persona.get("description") or name), tuple(behaviors))


def describe_persona(persona: Json) -> str:
    """Return the description of a persona for a prompt; empty without one."""
    known = read_persona(persona)
    if known is None:
        return ""
    lines = [known.description]
    for behavior in known.behaviors:
        lines.append(f"\n## {behavior.name}\n{behavior.description}")
        lines += [f"- {rule}" for rule in behavior.behavior_instructions]
    return "\n".join(lines).strip()


def write_prompt(scenario: Scenario, history: str) -> str:
    """Return the plan, the persona and the conversation so far."""
    parts = [f"# Conversation plan\n{scenario.plan}"]
    persona = describe_persona(scenario.persona)
    if persona:
        parts.append(f"# Persona\n{persona}")
    parts.append(f"# Conversation so far\n{history}")
    parts.append("# The user's next message")
    return "\n\n".join(parts)


def write_history(turns: Sequence[Turn], *, with_calls: bool = False) -> str:
    """Return what was said as `author: text` paragraphs, and what tools did if that is asked for.
    Thoughts are not shown."""
    return "\n\n".join(
        paragraph for turn in turns for paragraph in _write_turn(turn, with_calls=with_calls)
    )


def _write_turn(turn: Turn, *, with_calls: bool) -> Iterator[str]:
    agent = turn.agents[-1] if turn.agents else "agent"
    yield f"user: {turn.user or ''}"
    for message in turn.messages:
        yield f"{message.agent or agent}: {message.text}"
    if with_calls:
        yield from _write_calls(turn, agent)
    if turn.response is not None:
        yield f"{agent}: {turn.response}"


def _write_calls(turn: Turn, agent: str) -> Iterator[str]:
    """Write each call with its result. A turn does not say which message came between them."""
    calls = list(turn.tool_calls or ())
    results: dict[int, ToolResult] = {}
    open_calls = list(calls)
    for result in turn.tool_results:
        call = pop_call(open_calls, result)
        if call is not None:
            results[id(call)] = result
    for call in calls:
        yield f"{agent} called tool '{call.name}' with args: {call.args or {}}"
        if id(call) in results:
            yield _write_result(call, results[id(call)])


def _write_result(call: ToolCall, result: ToolResult) -> str:
    value = {"error": result.error} if result.error is not None else result.result
    shown = value if isinstance(value, dict) else {"result": value}
    return f"Tool '{call.name}' returned: {shown}"


class PromptTemplate:
    """Custom instructions: a Jinja template in a sandbox, with the placeholders of ADK."""

    def __init__(self, text: str) -> None:
        self._environment: Any = _environment()
        try:
            self._template: Any = self._environment.from_string(text)
            parsed = self._environment.parse(text)
        except load_object("jinja2.exceptions:TemplateError") as error:
            raise UsageError(f"custom_instructions: {error}", hint="expected Jinja") from error
        self.placeholders: frozenset[str] = frozenset(
            load_object("jinja2.meta:find_undeclared_variables")(parsed)
        )

    def check(self, *, with_persona: bool) -> None:
        """Raise `UsageError` if a placeholder is missing that ADK requires."""
        required = (*_REQUIRED, *(("persona",) if with_persona else ()))
        missing = [name for name in required if name not in self.placeholders]
        if missing:
            needs = ", ".join(f"{{{{ {name} }}}}" for name in missing)
            hint = "scenarios with a persona need {{ persona }}" if with_persona else None
            raise UsageError(f"custom_instructions do not contain {needs}", hint=hint)

    def write(self, scenario: Scenario, history: str) -> str:
        """Fill in the placeholders. Raises `ValueError` if the template cannot be rendered."""
        persona = read_persona(scenario.persona)
        values = {
            "stop_signal": STOP,
            "conversation_plan": scenario.plan,
            "conversation_history": history,
            **({"persona": persona} if persona else {}),
        }
        try:
            return self._template.render(values)
        except Exception as error:  # a template calls what it likes, within the sandbox
            raise ValueError(f"custom_instructions: {error}") from error


def _environment() -> Any:
    try:
        # Late: only custom instructions need it.
        return load_object("jinja2.sandbox:SandboxedEnvironment")()
    except ModuleNotFoundError as error:
        message = "custom_instructions require the package 'jinja2', which is not installed"
        raise UsageError(message, hint=install_hint("live")) from error
