"""Every container, in the order in which they are asked.

The containers are listed by reference and loaded together when the first value arrives that is not
plain OTLP JSON: importing them takes longer than reading a small file.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from functools import cache
from typing import TypeAlias

from carob.lazy import load_object
from carob.schema import Json
from carob.traces.containers.container import Container, LineContainer

# The order matters where claims overlap: a specific container comes before a general one. `flat`
# claims almost any object with the ids of a trace and a span, so most others come before it.
BUILTIN: dict[str, str] = {
    "otlp": "carob.traces.containers.otlp_loose:Otlp",
    "jaeger": "carob.traces.containers.jaeger:Jaeger",
    "zipkin": "carob.traces.containers.zipkin:Zipkin",
    "phoenix": "carob.traces.containers.phoenix:Phoenix",
    "phoenix-dataframe": "carob.traces.containers.phoenix:PhoenixFrame",
    "gemini-cli-telemetry": "carob.traces.containers.gemini_telemetry:GeminiTelemetry",
    "python-console": "carob.traces.containers.python_console:PythonConsole",
    "any-agent": "carob.traces.containers.any_agent:AnyAgent",
    "agentops": "carob.traces.containers.agentops:AgentOps",
    "mlflow": "carob.traces.containers.mlflow:MlFlowTrace",
    "nested": "carob.traces.containers.nested:Nested",
    "opik": "carob.traces.containers.opik:Opik",
    "langfuse": "carob.traces.containers.langfuse:Langfuse",
    "openai-agents": "carob.traces.containers.openai_agents:OpenAIAgents",
    "openai-run-state": "carob.traces.containers.openai_run_state:OpenAIRunState",
    "langsmith": "carob.traces.containers.langsmith:LangSmith",
    "weave": "carob.traces.containers.weave:Weave",
    "braintrust": "carob.traces.containers.braintrust:Braintrust",
    "helicone": "carob.traces.containers.helicone:Helicone",
    "datadog": "carob.traces.containers.datadog:Datadog",
    "elastic-apm": "carob.traces.containers.elastic_apm:ElasticApm",
    "deepeval": "carob.traces.containers.deepeval:DeepEval",
    "mastra": "carob.traces.containers.mastra:Mastra",
    "simulation": "carob.traces.containers.simulation:Simulation",
    "vertex-eval": "carob.traces.containers.vertex_eval:VertexEval",
    "adk-history": "carob.traces.containers.adk:AdkHistory",
    "adk-session": "carob.traces.containers.adk:AdkSession",
    "agent-framework": "carob.traces.containers.agent_framework:AgentFramework",
    "a2a": "carob.traces.containers.a2a:A2aTask",
    "assistants": "carob.traces.containers.assistants:Assistants",
    "gemini-interactions": "carob.traces.containers.gemini_interactions:GeminiInteractions",
    "bedrock-agent": "carob.traces.containers.bedrock_agent:BedrockAgent",
    "responses": "carob.traces.containers.responses:Responses",
    "langgraph-state": "carob.traces.containers.langgraph:LangGraphState",
    "atif": "carob.traces.containers.atif:Atif",
    "inspect": "carob.traces.containers.inspect_log:InspectLog",
    "claude-code": "carob.traces.containers.claude_code:ClaudeCode",
    "codex": "carob.traces.containers.codex:Codex",
    "codex-exec": "carob.traces.containers.codex_exec:CodexExec",
    "copilot": "carob.traces.containers.copilot:Copilot",
    "antigravity": "carob.traces.containers.antigravity:Antigravity",
    "amazon-q": "carob.traces.containers.amazon_q:AmazonQ",
    "goose": "carob.traces.containers.goose:Goose",
    "pi": "carob.traces.containers.pi:Pi",
    "cline": "carob.traces.containers.cline:Cline",
    "cline-task": "carob.traces.containers.cline_task:ClineTask",
    "continue": "carob.traces.containers.continue_session:ContinueSession",
    "vscode-chat": "carob.traces.containers.vscode_chat:VsCodeChat",
    "gemini-cli": "carob.traces.containers.gemini_cli:GeminiCli",
    "gemini-cli-stream": "carob.traces.containers.gemini_stream:GeminiStream",
    "openhands": "carob.traces.containers.openhands:OpenHands",
    "letta": "carob.traces.containers.letta:Letta",
    "letta-agent": "carob.traces.containers.letta_agent:LettaAgent",
    "opencode": "carob.traces.containers.opencode:OpenCode",
    "sharegpt": "carob.traces.containers.sharegpt:ShareGpt",
    "semantic-kernel": "carob.traces.containers.semantic_kernel:SemanticKernel",
    "swe-agent": "carob.traces.containers.swe_agent:SweAgent",
    "smolagents": "carob.traces.containers.smolagents:SmolAgents",
    "ag2": "carob.traces.containers.ag2:Ag2",
    "langchain4j": "carob.traces.containers.langchain4j:LangChain4j",
    "llama-index-ts": "carob.traces.containers.llama_index_ts:LlamaIndexTs",
    "ag-ui": "carob.traces.containers.ag_ui:AgUi",
    "bot-framework": "carob.traces.containers.bot_framework:BotFramework",
    "chat": "carob.traces.containers.chat:Chat",
    "rows": "carob.traces.containers.rows:Rows",
    "x-ray": "carob.traces.containers.aws:XRay",
    "flat": "carob.traces.containers.flat:Flat",
    "cloudwatch": "carob.traces.containers.aws:CloudWatch",
}

LAST = "carob.traces.containers.log:Log"
"""Rows by the common names of their columns: asked after the containers of other packages and the
mappings of users, which know better."""

ContainerFinder: TypeAlias = Callable[[], Iterable[Container]]
"""Returns the containers of other packages. Must be a module-level function, because it is
pickled by name for the processes that read parts of large files."""

_finders: dict[ContainerFinder, None] = {}


def add_container_finders(finders: Sequence[ContainerFinder]) -> None:
    """Ask these for further containers, once, when no built-in container claims an item."""
    _finders.update(dict.fromkeys(finders))
    extra_containers.cache_clear()


def container_finders() -> tuple[ContainerFinder, ...]:
    """The finders that were added; a worker process starts with none and must be given them."""
    return tuple(_finders)


@cache
def builtin_containers() -> tuple[Container, ...]:
    """The containers that come with Carob."""
    return tuple(load_object(reference)() for reference in BUILTIN.values())


@cache
def line_containers() -> tuple[LineContainer, ...]:
    """The built-in containers whose items may come one per line."""
    return tuple(item for item in builtin_containers() if isinstance(item, LineContainer))


@cache
def extra_containers() -> tuple[Container, ...]:
    """The containers of other packages."""
    return tuple(container for find in _finders for container in find())


def find_container(item: Json) -> Container | None:
    """Return the container that claims the item, if any does.

    Built-in containers are asked first, so that installing a package cannot change how a known
    file is read, and so that looking for packages costs nothing while it is not needed.
    """
    for container in builtin_containers():
        if container.claims(item):
            return container
    for container in (*extra_containers(), last_container()):
        if container.claims(item):
            return container
    return None


@cache
def last_container() -> Container:
    """The container that is asked last."""
    return load_object(LAST)()


@contextmanager
def using_containers(finders: Sequence[ContainerFinder]) -> Generator[None]:
    """Ask these for further containers within the block."""
    before = dict(_finders)
    add_container_finders(finders)
    try:
        yield
    finally:
        _finders.clear()
        add_container_finders([*before])
