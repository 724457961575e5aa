"""litellm with its own OpenTelemetry callback, in a loop that runs the tools."""

from __future__ import annotations

import os
import time

from tests.captures.frameworks import chat_loop, support

os.environ |= {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "USE_OTEL_LITELLM_REQUEST_SPAN": "true",
    "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": (
        "SPAN_AND_EVENT" if support.CONTENT else "NO_CONTENT"
    ),
}
if support.RECORDER == "otel-latest":
    os.environ["OTEL_SEMCONV_STABILITY_OPT_IN"] = "gen_ai_latest_experimental"

import litellm


def main() -> None:
    provider = support.tracer_provider()
    if support.RECORDER.startswith("otel"):
        from litellm.integrations.opentelemetry import OpenTelemetry, OpenTelemetryConfig

        litellm.turn_off_message_logging = not support.CONTENT
        config = OpenTelemetryConfig(exporter="otlp_http", endpoint=f"{support.URL}/v1/traces")
        litellm.callbacks = [OpenTelemetry(config=config)]
    else:
        from openinference.instrumentation.litellm import LiteLLMInstrumentor

        LiteLLMInstrumentor().instrument(tracer_provider=provider)

    def complete(messages: list[dict], tools: list[dict]) -> dict:
        options = {"tools": tools} if tools else {}
        reply = litellm.completion(
            model=f"openai/{support.MODEL}", messages=messages, api_base=support.API, **options
        )
        return reply.choices[0].message.model_dump(exclude_none=True)

    chat_loop.run(complete)
    time.sleep(1)  # the callback runs in a thread
    provider.force_flush()


main()
