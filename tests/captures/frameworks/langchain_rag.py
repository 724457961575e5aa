"""A LangChain chain with a retriever, without an agent."""

from __future__ import annotations

from typing import Any

from langchain_core.documents import Document
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnablePassthrough
from langchain_openai import ChatOpenAI

from tests.captures.frameworks import support

TEMPLATE = "You are weather_agent. Answer from these notes:\n{context}\n\nQuestion: {question}"


class Notes(BaseRetriever):
    """A retriever that always finds the same two notes."""

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        return [
            Document("Paris has 18C and sun today.", metadata={"source": "paris.txt"}),
            Document("Rome has rain today.", metadata={"source": "rome.txt"}),
        ]


def start_recorder() -> Any:
    provider = support.tracer_provider()
    if support.RECORDER == "openinference":
        from openinference.instrumentation.langchain import LangChainInstrumentor
    else:
        from opentelemetry.instrumentation.langchain import (
            LangchainInstrumentor as LangChainInstrumentor,
        )
    LangChainInstrumentor().instrument(tracer_provider=provider)
    return provider


def main() -> None:
    provider = start_recorder()
    chain = (
        {"context": Notes(), "question": RunnablePassthrough()}
        | ChatPromptTemplate.from_template(TEMPLATE)
        | ChatOpenAI(model=support.MODEL)
        | StrOutputParser()
    )
    support.ask_all(chain.invoke)
    provider.force_flush()


main()
