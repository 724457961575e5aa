"""Every container, in the order in which they are asked."""

from __future__ import annotations

from carob.traces.formats.adk_history import AdkHistory
from carob.traces.formats.adk_session import AdkSession
from carob.traces.formats.agent_framework import AgentFramework
from carob.traces.formats.agentops import AgentOps
from carob.traces.formats.any_agent import AnyAgent
from carob.traces.formats.chat import Chat
from carob.traces.formats.cloudwatch import CloudWatch
from carob.traces.formats.container import Container
from carob.traces.formats.flat import Flat
from carob.traces.formats.jaeger import Jaeger
from carob.traces.formats.langfuse import Langfuse
from carob.traces.formats.langsmith import LangSmith
from carob.traces.formats.nested import Nested
from carob.traces.formats.openai_agents import OpenAIAgents
from carob.traces.formats.otlp_loose import Otlp
from carob.traces.formats.phoenix import Phoenix, PhoenixFrame
from carob.traces.formats.python_console import PythonConsole
from carob.traces.formats.rows import Rows
from carob.traces.formats.simulation import Simulation
from carob.traces.formats.swe_agent import SweAgent
from carob.traces.formats.xray import XRay
from carob.traces.formats.zipkin import Zipkin

CONTAINERS: tuple[Container, ...] = (
    Otlp(),
    Jaeger(),
    Zipkin(),
    Phoenix(),
    PhoenixFrame(),
    PythonConsole(),
    AnyAgent(),
    AgentOps(),
    Nested(),
    Langfuse(),
    OpenAIAgents(),
    LangSmith(),
    Simulation(),
    AdkHistory(),
    AdkSession(),
    AgentFramework(),
    SweAgent(),
    Chat(),
    Rows(),
    XRay(),
    Flat(),
    CloudWatch(),
)
