// LangGraph.js and LangChain's agents.

import * as CallbackManager from "@langchain/core/callbacks/manager";
import { tool } from "@langchain/core/tools";
import { MemorySaver } from "@langchain/langgraph";
import { ChatOpenAI } from "@langchain/openai";
import { createAgent, ToolMessage } from "langchain";
import { z } from "zod";

import * as support from "./support.mjs";

async function startRecorder() {
  if (support.RECORDER === "langfuse") {
    const { LangfuseSpanProcessor } = await import("@langfuse/otel");
    const { CallbackHandler } = await import("@langfuse/langchain");
    const keys = { publicKey: "pk", secretKey: "sk", baseUrl: support.URL };
    const provider = await support.tracerProvider(new LangfuseSpanProcessor(keys));
    return [provider, [new CallbackHandler({ sessionId: "session_1" })]];
  }
  const provider = await support.tracerProvider();
  if (support.RECORDER === "openinference") {
    const { LangChainInstrumentation } = await import(
      "@arizeai/openinference-instrumentation-langchain"
    );
    const hide = { hideInputs: !support.CONTENT, hideOutputs: !support.CONTENT };
    const instrumentation = new LangChainInstrumentation({ traceConfig: hide });
    instrumentation.setTracerProvider(provider);
    instrumentation.manuallyInstrument(CallbackManager);
  }
  return [provider, []];
}

// Tell the model about an error, which would end the run otherwise.
const reportErrors = {
  name: "report_errors",
  wrapToolCall: async (request, handler) => {
    try {
      return await handler(request);
    } catch (error) {
      const { id, name } = request.toolCall;
      return new ToolMessage({ content: error.message, tool_call_id: id, name, status: "error" });
    }
  },
};

function buildAgent(name, tools, checkpointer) {
  const model = new ChatOpenAI({
    model: support.MODEL,
    streaming: support.STREAM,
    configuration: { baseURL: support.API },
  });
  const middleware = JSON.stringify(support.SCENARIO.questions).includes("book_table") ? [reportErrors] : [];
  const systemPrompt = support.instructions(name);
  return createAgent({ model, tools, systemPrompt, name, middleware, checkpointer });
}

const tools = support
  .tools(z)
  .map(({ name, description, schema, run }) => tool(run, { name, description, schema }));

const [provider, callbacks] = await startRecorder();
const memory = new MemorySaver();
const config = { configurable: { thread_id: "thread_1" }, callbacks };
if (support.MAX_STEPS) config.recursionLimit = 2 * support.MAX_STEPS;

const worker = buildAgent(support.WORKER, tools, support.IN_TWO ? undefined : memory);
const askWorker = tool(
  async ({ input }, inner) => {
    const state = await worker.invoke({ messages: [{ role: "user", content: input }] }, inner);
    return state.messages.at(-1).content;
  },
  {
    name: "ask_weather_agent",
    description: "Ask the weather agent.",
    schema: z.object({ input: z.string() }),
  },
);
const agent = support.IN_TWO ? buildAgent(support.COORDINATOR, [askWorker], memory) : worker;

await support.askAll(async (user) => {
  const state = await agent.invoke({ messages: [{ role: "user", content: support.openaiContent(user) }] }, config);
  return state.messages.at(-1).content;
});
await provider.forceFlush();
