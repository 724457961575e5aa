"""Models of Anthropic, Google and Amazon Bedrock, through pydantic-ai."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from carob.judges.model import (
    JudgeMessage,
    JudgeModel,
    JudgeReply,
    JudgeRequest,
    ProviderError,
)
from carob.judges.providers.credentials import Credentials, find_credentials
from carob.judges.providers.errors import (
    ErrorBody,
    http_error,
    quote,
    read_error,
    require_package,
)
from carob.judges.providers.rate_limits import read_rate_limit
from carob.judges.providers.sdk_clients import ResponseInfo, open_client, response_info
from carob.schema import Json, JudgeSettings

if TYPE_CHECKING:
    from pydantic_ai.exceptions import ModelHTTPError
    from pydantic_ai.messages import ModelMessage, ModelResponse
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.settings import ModelSettings

_NO_TEMPERATURE = ("anthropic_disallows_sampling_settings", "bedrock_disallows_sampling_settings")


def open_pydantic_ai(settings: JudgeSettings) -> JudgeModel:
    """Open a model of `anthropic`, `google` or `bedrock`."""
    credentials = find_credentials(settings)
    provider = credentials.provider
    require_package(f"pydantic_ai.models.{provider}", extra=provider)
    return PydanticAiModel(credentials)


class PydanticAiModel:
    """A model behind pydantic-ai, which makes exactly one request per reply."""

    prefers_words = False
    max_concurrency: int | None = None

    def __init__(self, credentials: Credentials) -> None:
        self.name = credentials.name
        self._credentials = credentials
        self._client = open_client(credentials)
        self._profile = cast("dict[str, object]", self._client.model.profile)

    async def reply(self, request: JudgeRequest) -> JudgeReply:
        """Send one request. Rate limits are reported if the client exposes the headers."""
        from pydantic_ai.exceptions import ModelAPIError, UnexpectedModelBehavior, UserError

        info = ResponseInfo()
        token = response_info.set(info)
        try:
            response = await self._client.model.request(
                _messages(request), self._settings(request), self._parameters(request)
            )
            return self._read(response, info)
        except ProviderError:
            raise
        except (ModelAPIError, UnexpectedModelBehavior, UserError) as error:
            failure = self._error(error, info)
        except Exception as error:  # noqa: BLE001 - clients raise anything for bad replies
            name = type(error).__name__
            failure = ProviderError("malformed", f"{self.name} sent an invalid response: {name}")
        finally:
            response_info.reset(token)
        # Raised outside of the handler: the clients' errors carry the request headers, and so the
        # key, which would be reachable as `__context__`.
        raise failure

    async def close(self) -> None:
        """Close all connections."""
        await self._client.close()

    def _settings(self, request: JudgeRequest) -> ModelSettings:
        settings: ModelSettings = {"max_tokens": request.max_tokens}
        if request.temperature is not None and not any(map(self._profile.get, _NO_TEMPERATURE)):
            settings["temperature"] = request.temperature
        return settings

    def _parameters(self, request: JudgeRequest) -> ModelRequestParameters:
        """Pass the schema as the output format, or as the only tool for models without structured
        output."""
        from pydantic_ai.models import ModelRequestParameters
        from pydantic_ai.output import OutputObjectDefinition
        from pydantic_ai.tools import ToolDefinition

        schema = dict(request.schema)
        if self._profile.get("supports_json_schema_output"):
            output = OutputObjectDefinition(json_schema=schema, name="answer", strict=True)
            return ModelRequestParameters(output_mode="native", output_object=output)
        tool = ToolDefinition(
            name="answer",
            description="Gives the answer.",
            parameters_json_schema=schema,
            kind="output",
        )
        return ModelRequestParameters(
            output_mode="tool", output_tools=[tool], allow_text_output=False
        )

    def _read(self, response: ModelResponse, info: ResponseInfo) -> JudgeReply:
        text = _text(response)
        if response.finish_reason == "content_filter":
            raise ProviderError("rejected", f"{self.name} declined to answer")
        if not text and response.finish_reason is None:
            raise ProviderError("malformed", f"{self.name} returned an empty reply")
        return JudgeReply(
            text=text,
            truncated=response.finish_reason == "length",
            input_tokens=response.usage.input_tokens,
            output_tokens=response.usage.output_tokens,
            rate_limit=read_rate_limit(info.headers),
        )

    def _error(self, error: Exception, info: ResponseInfo) -> ProviderError:
        from pydantic_ai import exceptions

        if isinstance(error, exceptions.ModelHTTPError):
            return self._status_error(error)
        if 300 <= info.status < 400:
            return self._http_error(info.status, ErrorBody(), {})
        if isinstance(error, exceptions.ModelTimeoutError):
            return ProviderError("timeout", f"{self.name} did not answer in time")
        message = quote(self._credentials.redactor.redact(str(error)))
        if isinstance(error, exceptions.ModelRequestRejectedError | exceptions.UserError):
            return ProviderError(
                "rejected", f"{self.name} does not support this request: {message}"
            )
        if isinstance(error, exceptions.ModelConnectionError):
            return ProviderError("disconnected", f"{self.name} cannot be reached: {message}")
        return ProviderError("malformed", f"{self.name} sent an invalid response: {message}")

    def _status_error(self, error: ModelHTTPError) -> ProviderError:
        from pydantic_ai import exceptions

        status, body = error.status_code, _error_body(error.body)
        if isinstance(error, exceptions.ModelAuthenticationError) and status != 403:
            status = 401  # Google answers 400 to a wrong key
        elif isinstance(error, exceptions.ModelQuotaExceededError):
            status = 402  # Anthropic answers 400 to an exhausted balance
        elif isinstance(error, exceptions.ModelContextWindowExceededError):
            body = ErrorBody(message=body.message, codes=frozenset(("context_length_exceeded",)))
        return self._http_error(status, body, error.headers or {})

    def _http_error(
        self, status: int, body: ErrorBody, headers: Mapping[str, str]
    ) -> ProviderError:
        redactor, key = self._credentials.redactor, self._credentials.key
        return http_error(self.name, status, body, headers=headers, redactor=redactor, key=key)


def _messages(request: JudgeRequest) -> list[ModelMessage]:
    return [_message(message) for message in request.messages]


def _message(message: JudgeMessage) -> ModelMessage:
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


def _text(response: ModelResponse) -> str:
    """Return the arguments of the tool call, or else the text."""
    from pydantic_ai.messages import ToolCallPart

    calls = [part for part in response.parts if isinstance(part, ToolCallPart)]
    return calls[0].args_as_json_str() if calls else response.text or ""


def _error_body(body: object) -> ErrorBody:
    value = cast("Json", body)
    if isinstance(value, dict) and isinstance(error := value.get("Error"), dict):  # boto's shape
        value = {key.lower(): item for key, item in error.items()}
    return read_error(value) if not isinstance(value, str) else ErrorBody(message=value)
