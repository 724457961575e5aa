"""What a configuration of promptfoo adds to its tests: the defaults of `defaultTest`, and prompts.

promptfoo sends a prompt with the variables of a test filled in, and that is the user message of the
case. A prompt in another file, in code, or with logic is not rendered: the message is then a
variable of the test.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import msgspec

from carob.datasets.formats.promptfoo_assertions import fill_template
from carob.datasets.formats.row_values import as_text
from carob.datasets.patch import Object
from carob.schema import Json

_VARIABLE = re.compile(r"\{\{-?\s*(\w+)\s*-?\}\}")
_OTHER_FILE = re.compile(
    r"(file://|exec:|https?://|langfuse://|portkey://|helicone://)"
    r"|\S+\.(txt|json|jsonl|ya?ml|md|j2|csv|m?js|cjs|m?ts|py|sh)(:\w+)?$"
)
_TEXT = re.compile(r"(?s)(?!.*\{\{)\S.*\s\S")
"""A prompt without variables is a text of several words; one word may be the name of a file."""
_CHAT_IN_YAML = re.compile(r"\s*-\s+role:")


@dataclass(frozen=True)
class TestFrame:
    """The part of a configuration that concerns every test."""

    config: Mapping[str, Json] = field(default_factory=dict[str, Json])

    @cached_property
    def default(self) -> Object:
        """The test whose variables, assertions and metadata every test has."""
        stated = self.config.get("defaultTest")
        return stated if isinstance(stated, dict) else {}

    @cached_property
    def prompts(self) -> list[Json]:
        """The prompts as they are stated."""
        stated = self.config.get("prompts")
        return stated if isinstance(stated, list) else [] if stated is None else [stated]

    @cached_property
    def template(self) -> str | None:
        """The user message of the first prompt, if variables are all that it needs."""
        return read_template(self.prompts[0]) if self.prompts else None

    def complete(self, test: Object) -> Object:
        """The test with everything that `defaultTest` states for it."""
        if not self.default:
            return test
        merged: Object = {
            key: {**shared, **own}
            for key in ("vars", "metadata", "options")
            if isinstance(shared := self.default.get(key), dict)
            and isinstance(own := test.get(key, {}), dict)
        }
        options = merged.get("options", test.get("options"))
        asserts = test.get("assert")
        shared_asserts = self.default.get("assert")
        is_apart = isinstance(options, dict) and options.get("disableDefaultAsserts") is True
        if isinstance(shared_asserts, list) and isinstance(asserts, list | None) and not is_apart:
            merged["assert"] = [*shared_asserts, *(asserts or [])]
        if test.get("threshold") is None and "threshold" in self.default:
            merged["threshold"] = self.default["threshold"]
        return {**test, **merged}

    def template_of(self, test: Object) -> str | None:
        """The template of the user message of a test, with its prefix and suffix."""
        options = test.get("options")
        options = options if isinstance(options, dict) else {}
        if self.template is None:
            return None
        affixes = [as_text(options.get(name)) or "" for name in ("prefix", "suffix")]
        return f"{affixes[0]}{self.template}{affixes[1]}"


def read_template(prompt: Json) -> str | None:
    """The template of the user message in a prompt; null if it is elsewhere, or more than that."""
    if isinstance(prompt, dict):
        prompt = prompt.get("raw") or prompt.get("content")
    if not isinstance(prompt, str) or not (_VARIABLE.search(prompt) or _TEXT.match(prompt)):
        return None
    if _OTHER_FILE.match(prompt.strip()) or _CHAT_IN_YAML.match(prompt) or "{%" in prompt:
        return None
    return _read_chat(prompt) if prompt.lstrip().startswith("[") else prompt


def _read_chat(prompt: str) -> str | None:
    """The last user message of a prompt that is a list of messages."""
    try:
        messages: Json = msgspec.json.decode(prompt)
    except msgspec.DecodeError:
        return None
    users: list[Json] = [
        message.get("content")
        for message in (messages if isinstance(messages, list) else [])
        if isinstance(message, dict) and message.get("role") == "user"
    ]
    last = users[-1] if users else None
    return last if isinstance(last, str) else None


def template_variables(template: str) -> list[str]:
    """The names of the variables in a template."""
    return list(dict.fromkeys(_VARIABLE.findall(template)))


def render_prompt(template: str, variables: Mapping[str, Json]) -> str | None:
    """The template with the variables of a test; null if they are not known here.

    A variable that a test does not have is empty, as in promptfoo; but one must be there.
    """
    names = template_variables(template)
    if not names:
        return template
    # The value of a variable may be a template over others.
    values = {name: as_text(fill_template(variables.get(name), variables)) for name in names}
    stated = [text for text in values.values() if text]
    if not stated or any(isinstance(variables.get(name), list | dict) for name in names):
        return None
    if any(text.startswith("file://") for text in stated):
        return None
    text = _VARIABLE.sub(lambda match: values[match[1]] or "", template)
    return None if "{{" in text else text


def find_variable(template: str, message: str) -> tuple[str, str] | None:
    """The only variable of a template, and the value with which it becomes the message."""
    names = template_variables(template)
    parts = _VARIABLE.split(template)
    if len(names) != 1 or len(parts) != 3:
        return None
    before, _, after = parts
    if len(message) < len(before) + len(after) or not message.startswith(before):
        return None
    if not message.endswith(after):
        return None
    value = message[len(before) : len(message) - len(after)]
    return (names[0], value) if value else None
