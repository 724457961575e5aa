"""Every container, in the order in which they are asked."""

from __future__ import annotations

from carob.traces.containers.adk_history import AdkHistory
from carob.traces.containers.adk_session import AdkSession
from carob.traces.containers.agent_framework import AgentFramework
from carob.traces.containers.agentops import AgentOps
from carob.traces.containers.any_agent import AnyAgent
from carob.traces.containers.chat import Chat
from carob.traces.containers.cloudwatch import CloudWatch
from carob.traces.containers.container import Container
from carob.traces.containers.flat import Flat
from carob.traces.containers.jaeger import Jaeger
from carob.traces.containers.langfuse import Langfuse
from carob.traces.containers.langsmith import LangSmith
from carob.traces.containers.nested import Nested
from carob.traces.containers.openai_agents import OpenAIAgents
from carob.traces.containers.otlp_loose import Otlp
from carob.traces.containers.phoenix import Phoenix, PhoenixFrame
from carob.traces.containers.python_console import PythonConsole
from carob.traces.containers.rows import Rows
from carob.traces.containers.simulation import Simulation
from carob.traces.containers.swe_agent import SweAgent
from carob.traces.containers.xray import XRay
from carob.traces.containers.zipkin import Zipkin

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
