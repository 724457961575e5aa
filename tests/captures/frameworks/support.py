"""What every Python script of a framework needs: the scenario, the tools and the exporter."""

from __future__ import annotations

import json
import os
import urllib.request
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any

URL = os.environ["CAPTURE_URL"]
API = f"{URL}/v1"
RECORDER = os.environ["CAPTURE_RECORDER"]
STREAM = os.environ["CAPTURE_STREAM"] == "on"
CONTENT = os.environ["CAPTURE_CONTENT"] == "on"
SCENARIO: dict[str, Any] = json.loads(os.environ["CAPTURE_SCENARIO"])
NAME: str = SCENARIO["name"]
MODEL: str = SCENARIO["model"]
IMAGE = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"
)
"""A red dot, as PNG in base64."""
USERS: list[str] = [asked["user"] for asked in SCENARIO["questions"]]
MAX_STEPS: int | None = SCENARIO["max_steps"]
WORKER, COORDINATOR = "weather_agent", "coordinator"
TEAM: str | None = SCENARIO["team"]
IN_TWO = TEAM is not None
"""Whether a coordinator passes the question to the worker."""

os.environ.setdefault("OPENAI_API_KEY", "test")
os.environ.setdefault("ANTHROPIC_API_KEY", "test")
os.environ["OPENAI_BASE_URL"] = os.environ["OPENAI_API_BASE"] = API
os.environ["ANTHROPIC_BASE_URL"] = URL
os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"] = URL
os.environ["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"] = str(CONTENT).lower()
os.environ["TRACELOOP_TRACE_CONTENT"] = str(CONTENT).lower()
os.environ["OPENINFERENCE_HIDE_INPUTS"] = str(not CONTENT).lower()
os.environ["OPENINFERENCE_HIDE_OUTPUTS"] = str(not CONTENT).lower()


def instructions(agent: str) -> str:
    """The instructions, by which the server knows the agent."""
    return f"You are {agent}. Be brief."


def has_image(user: str) -> bool:
    """Whether the message holds an image beside the text."""
    return any(asked["has_image"] for asked in SCENARIO["questions"] if asked["user"] == user)


def openai_content(user: str) -> str | list[dict[str, Any]]:
    """The message as the content of OpenAI's chat completions."""
    if not has_image(user):
        return user
    image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{IMAGE}"}}
    return [{"type": "text", "text": user}, image]


def get_weather(city: str) -> str:
    """Get the current weather of a city.

    Args:
        city: The name of the city.
    """
    return _run_tool("get_weather", city=city)


def get_population(city: str) -> str:
    """Get the number of people who live in a city.

    Args:
        city: The name of the city.
    """
    return _run_tool("get_population", city=city)


def book_table(city: str, guests: int) -> str:
    """Book a table in a restaurant.

    Args:
        city: The name of the city.
        guests: The number of guests.
    """
    return _run_tool("book_table", city=city, guests=guests)


def find_hotels(city: str) -> list[dict[str, Any]]:
    """Find hotels in a city.

    Args:
        city: The name of the city.
    """
    return _run_tool("find_hotels", city=city)


def get_prices(city: str) -> dict[str, Any]:
    """Get the prices of a city.

    Args:
        city: The name of the city.
    """
    return _run_tool("get_prices", city=city)


def count_visitors(city: str) -> int:
    """Count the visitors of a city.

    Args:
        city: The name of the city.
    """
    return _run_tool("count_visitors", city=city)


def list_closures(city: str) -> str:
    """List the closed streets of a city, one per line.

    Args:
        city: The name of the city.
    """
    return _run_tool("list_closures", city=city)


def read_guide(city: str) -> str:
    """Read the whole guide of a city.

    Args:
        city: The name of the city.
    """
    return _run_tool("read_guide", city=city)


def list_events(city: str) -> list[str]:
    """List the events of a city.

    Args:
        city: The name of the city.
    """
    return _run_tool("list_events", city=city)


def find_parking(city: str) -> str | None:
    """Find free parking in a city.

    Args:
        city: The name of the city.
    """
    return _run_tool("find_parking", city=city)


def count_strikes(city: str) -> int:
    """Count the strikes in a city.

    Args:
        city: The name of the city.
    """
    return _run_tool("count_strikes", city=city)


def is_flooded(city: str) -> bool:
    """Whether streets of a city are flooded.

    Args:
        city: The name of the city.
    """
    return _run_tool("is_flooded", city=city)


def get_time() -> str:
    """Get the current time."""
    return _run_tool("get_time")


def _run_tool(name: str, **args: Any) -> Any:
    tool = SCENARIO["all_tools"][name]
    if "error" in tool:
        raise RuntimeError(tool["error"].format(**args))
    result = tool["result"]
    return result.format(**args) if isinstance(result, str) else result


TOOLS: list[Callable[..., Any]] = [globals()[name] for name in SCENARIO["tools"]]


def tracer_provider() -> Any:
    """Return a tracer provider that exports every span at once, set as the global one."""
    from opentelemetry import trace
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor

    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    return provider


def start_mlflow(package: str) -> Any:
    """Let MLflow record a package and export its spans; return what to flush."""
    os.environ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] = f"{URL}/v1/traces"
    os.environ["OTEL_EXPORTER_OTLP_PROTOCOL"] = "http/protobuf"
    import mlflow

    getattr(mlflow, package).autolog()

    def force_flush() -> None:
        from mlflow.tracing.provider import provider  # exists after the first trace

        provider.get().force_flush()

    return SimpleNamespace(force_flush=force_flush)


def start_opik() -> None:
    """Let Opik's SDK send to the server."""
    os.environ |= {"OPIK_URL_OVERRIDE": f"{URL}/api/", "OPIK_TRACK_DISABLE": "false"}
    os.environ |= {"OPIK_WORKSPACE": "default", "OPIK_SENTRY_ENABLE": "false"}
    os.environ |= {"OPIK_ANALYTICS_ENABLE": "false"}


def start_weave() -> Any:
    """Let Weave's SDK send to the server; return what to flush."""
    os.environ |= {"WANDB_API_KEY": "0" * 40, "WANDB_BASE_URL": URL, "WF_TRACE_SERVER_URL": URL}
    os.environ |= {
        "WEAVE_PRINT_CALL_LINK": "false",
        "WEAVE_USE_SERVER_CACHE": "false",
        "WANDB_ERROR_REPORTING": "false",
    }
    import weave

    return weave.init("team/captures")


def flush() -> None:
    """Send what the recorder has not sent yet."""
    if RECORDER.startswith("opik"):
        import opik

        opik.flush_tracker()
    elif RECORDER.startswith("weave"):
        import weave

        weave.finish()
    else:
        from opentelemetry import trace

        trace.get_tracer_provider().force_flush()


def logger_provider() -> Any:
    """Return a logger provider that exports every log record at once, set as the global one."""
    from opentelemetry._logs import set_logger_provider
    from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
    from opentelemetry.sdk._logs import LoggerProvider
    from opentelemetry.sdk._logs.export import SimpleLogRecordProcessor

    provider = LoggerProvider()
    provider.add_log_record_processor(SimpleLogRecordProcessor(OTLPLogExporter()))
    set_logger_provider(provider)
    return provider


def post(path: str, value: Any) -> None:
    """Send a value to the server."""
    request = urllib.request.Request(
        f"{URL}/{path}", json.dumps(value).encode(), {"Content-Type": "application/json"}
    )
    urllib.request.urlopen(request).close()


def ask_all(ask: Callable[[str], str | None]) -> None:
    """Ask every question, and report what came back."""
    for user in USERS:
        try:
            answer(ask(user))
        except Exception as error:
            answer(None, error)


async def ask_all_async(ask: Callable[[str], Awaitable[str | None]]) -> None:
    """Ask every question of a framework that is asynchronous, and report what came back."""
    for user in USERS:
        try:
            answer(await ask(user))
        except Exception as error:
            answer(None, error)


def answer(text: str | None, error: BaseException | None = None) -> None:
    """Report what the framework returned for a question; an error if it raised."""
    post("answer", {"response": text, "error": None if error is None else str(error)})


def document(value: Any) -> None:
    """Record a document of the framework's own format."""
    post("document", value)


def replace_replies(adapt: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Change each reply of the script, for frameworks that expect other replies."""
    questions = [
        {**asked, "replies": [adapt(reply) for reply in asked["replies"]]}
        for asked in SCENARIO["questions"]
    ]
    post("replies", questions)
