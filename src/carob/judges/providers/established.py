"""Models behind the wires of Anthropic, Google and Amazon Bedrock, through pydantic-ai. Who asks
tries again: one reply is one request here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from carob.judges.model import Message, RefusedError, Reply, Request
from carob.judges.providers.access import Access
from carob.judges.providers.allowance import allowance
from carob.judges.providers.clients import Heard, heard, open_client
from carob.judges.providers.refusal import Complaint, refusal, short, understood
from carob.schema import Json

if TYPE_CHECKING:
    from pydantic_ai.exceptions import ModelHTTPError
    from pydantic_ai.messages import ModelMessage, ModelResponse
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.settings import ModelSettings

_FIXED = ("anthropic_disallows_sampling_settings", "bedrock_disallows_sampling_settings")


class Established:
    """A model of a provider that has a client of its own."""

    words = False
    at_once: int | None = None

    def __init__(self, access: Access) -> None:
        self.name = access.name
        self._access = access
        self._client = open_client(access)
        self._profile = cast("dict[str, object]", self._client.model.profile)

    async def reply(self, request: Request) -> Reply:
        """The reply; the headers of limits come with it where the client lets them be seen."""
        from pydantic_ai.exceptions import ModelAPIError, UnexpectedModelBehavior, UserError

        came = Heard()
        token = heard.set(came)
        try:
            made = await self._client.model.request(
                _messages(request), self._settings(request), self._parameters(request)
            )
            return self._read(made, came)
        except RefusedError:
            raise
        except (ModelAPIError, UnexpectedModelBehavior, UserError) as error:
            refused = self._refusal(error, came)
        except Exception as error:  # noqa: BLE001 - clients stumble over bad replies in many ways
            kind = type(error).__name__
            refused = RefusedError("malformed", f"{self.name} did not answer as it should: {kind}")
        finally:
            heard.reset(token)
        # Not from within the handler: the errors of clients carry the headers of the request.
        raise refused

    async def close(self) -> None:
        """Let go of all connections."""
        await self._client.close()

    def _settings(self, request: Request) -> ModelSettings:
        settings: ModelSettings = {"max_tokens": request.max_tokens}
        if request.temperature is not None and not any(self._profile.get(one) for one in _FIXED):
            settings["temperature"] = request.temperature
        return settings

    def _parameters(self, request: Request) -> ModelRequestParameters:
        """The schema as the form of the answer, or as a tool that must be called where the model
        knows no forms."""
        from pydantic_ai.models import ModelRequestParameters
        from pydantic_ai.output import OutputObjectDefinition
        from pydantic_ai.tools import ToolDefinition

        schema = dict(request.schema)
        if self._profile.get("supports_json_schema_output"):
            form = OutputObjectDefinition(json_schema=schema, name="answer", strict=True)
            return ModelRequestParameters(output_mode="native", output_object=form)
        tool = ToolDefinition(
            name="answer",
            description="Gives the answer.",
            parameters_json_schema=schema,
            kind="output",
        )
        return ModelRequestParameters(
            output_mode="tool", output_tools=[tool], allow_text_output=False
        )

    def _read(self, made: ModelResponse, came: Heard) -> Reply:
        text = _text(made)
        if made.finish_reason == "content_filter":
            raise RefusedError("rejected", f"{self.name} declined to answer")
        if not text and made.finish_reason is None:
            raise RefusedError("malformed", f"{self.name} answered without an answer")
        return Reply(
            text=text,
            cut=made.finish_reason == "length",
            input_tokens=made.usage.input_tokens,
            output_tokens=made.usage.output_tokens,
            allowance=allowance(came.headers),
        )

    def _refusal(self, error: Exception, came: Heard) -> RefusedError:
        from pydantic_ai import exceptions as kinds

        if isinstance(error, kinds.ModelHTTPError):
            return self._status(error)
        if 300 <= came.status < 400:
            return self._told(came.status, Complaint(), {})
        if isinstance(error, kinds.ModelTimeoutError):
            return RefusedError("timeout", f"{self.name} did not answer in time")
        message = short(self._access.keys.hide(str(error)))
        if isinstance(error, kinds.ModelRequestRejectedError | kinds.UserError):
            return RefusedError("rejected", f"{self.name} cannot be asked this: {message}")
        if isinstance(error, kinds.ModelConnectionError):
            return RefusedError("disconnected", f"{self.name} cannot be reached: {message}")
        return RefusedError("malformed", f"{self.name} did not answer as it should: {message}")

    def _status(self, error: ModelHTTPError) -> RefusedError:
        from pydantic_ai import exceptions as kinds

        status, said = error.status_code, _complaint(error.body)
        if isinstance(error, kinds.ModelAuthenticationError) and status != 403:
            status = 401  # Google finds a wrong key with 400
        elif isinstance(error, kinds.ModelQuotaExceededError):
            status = 402  # and Anthropic an empty purse
        elif isinstance(error, kinds.ModelContextWindowExceededError):
            said = Complaint(message=said.message, codes=frozenset(("context_length_exceeded",)))
        return self._told(status, said, error.headers or {})

    def _told(self, status: int, said: Complaint, headers: Mapping[str, str]) -> RefusedError:
        keys, key = self._access.keys, self._access.key
        return refusal(self.name, status, said, headers=headers, keys=keys, key=key)


def _messages(request: Request) -> list[ModelMessage]:
    return [_message(one) for one in request.messages]


def _message(message: Message) -> ModelMessage:
    from pydantic_ai.messages import (
        ModelRequest,
        ModelResponse,
        SystemPromptPart,
        TextPart,
        UserPromptPart,
    )

    if message.role == "assistant":
        return ModelResponse(parts=[TextPart(message.text)])
    part = SystemPromptPart if message.role == "system" else UserPromptPart
    return ModelRequest(parts=[part(message.text)])


def _text(made: ModelResponse) -> str:
    """What was answered by calling the tool, or else what was said."""
    from pydantic_ai.messages import ToolCallPart

    calls = [part for part in made.parts if isinstance(part, ToolCallPart)]
    return calls[0].args_as_json_str() if calls else made.text or ""


def _complaint(body: object) -> Complaint:
    found = cast("Json", body)
    if isinstance(found, dict) and isinstance(inner := found.get("Error"), dict):  # as boto says it
        found = {key.lower(): value for key, value in inner.items()}
    return understood(found) if not isinstance(found, str) else Complaint(message=found)
