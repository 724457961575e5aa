"""Every container, in the order in which they are asked."""

from __future__ import annotations

from karat.traces.formats.adk_history import AdkHistory
from karat.traces.formats.adk_session import AdkSession
from karat.traces.formats.agent_framework import AgentFramework
from karat.traces.formats.agentops import AgentOps
from karat.traces.formats.any_agent import AnyAgent
from karat.traces.formats.chat import Chat
from karat.traces.formats.cloudwatch import CloudWatch
from karat.traces.formats.container import Container
from karat.traces.formats.flat import Flat
from karat.traces.formats.jaeger import Jaeger
from karat.traces.formats.langfuse import Langfuse
from karat.traces.formats.langsmith import LangSmith
from karat.traces.formats.nested import Nested
from karat.traces.formats.openai_agents import OpenAIAgents
from karat.traces.formats.otlp_loose import Otlp
from karat.traces.formats.phoenix import Phoenix, PhoenixFrame
from karat.traces.formats.python_console import PythonConsole
from karat.traces.formats.rows import Rows
from karat.traces.formats.simulation import Simulation
from karat.traces.formats.swe_agent import SweAgent
from karat.traces.formats.xray import XRay
from karat.traces.formats.zipkin import Zipkin

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
