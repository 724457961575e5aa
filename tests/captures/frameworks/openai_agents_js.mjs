// OpenAI Agents SDK for JavaScript.

import * as agents from "@openai/agents";
import { OpenAITracingExporter } from "@openai/agents-openai";
import OpenAI from "openai";
import { z } from "zod";

import * as support from "./support.mjs";

async function startRecorder() {
  if (support.RECORDER.startsWith("native")) {
    const endpoint = `${support.URL}/v1/traces/ingest`;
    const exporter = new OpenAITracingExporter({ apiKey: "test", endpoint });
    const processor = new agents.BatchTraceProcessor(exporter, { scheduleDelay: 0.1 });
    agents.setTraceProcessors([processor]);
    agents.setTracingDisabled(false);
    return processor;
  }
  const provider = await support.tracerProvider();
  const { OpenAIAgentsInstrumentation } = await import(
    "@arizeai/openinference-instrumentation-openai-agents"
  );
  const traceConfig = { hideInputs: !support.CONTENT, hideOutputs: !support.CONTENT };
  const instrumentation = new OpenAIAgentsInstrumentation({ tracerProvider: provider, traceConfig });
  instrumentation.manuallyInstrument(agents);
  agents.setTracingDisabled(false);
  return provider;
}

const client = new OpenAI();

function model() {
  if (support.RECORDER.endsWith("-chat")) {
    return new agents.OpenAIChatCompletionsModel(client, support.MODEL);
  }
  return new agents.OpenAIResponsesModel(client, support.MODEL);
}

function agent(name, fields) {
  return new agents.Agent({
    name,
    instructions: support.instructions(name),
    model: model(),
    ...fields,
  });
}

function buildAgent() {
  const tools = support.tools(z).map((tool) =>
    agents.tool({
      name: tool.name,
      description: tool.description,
      parameters: tool.schema,
      execute: tool.run,
    }),
  );
  const worker = agent(support.WORKER, { tools });
  if (!support.IN_TWO) return worker;
  if (support.TEAM === "hand-over") return agent(support.COORDINATOR, { handoffs: [worker] });
  const toolName = "ask_weather_agent";
  const asked = worker.asTool({ toolName, toolDescription: "Ask the weather agent." });
  return agent(support.COORDINATOR, { tools: [asked] });
}

const recorder = await startRecorder();
const runner = new agents.Runner({
  groupId: "session_1",
  traceIncludeSensitiveData: support.CONTENT || support.RECORDER.startsWith("openinf"),
});
const first = buildAgent();
let history = [];
await support.askAll(async (user) => {
  const input = [...history, agents.user(user)];
  const options = { maxTurns: support.MAX_STEPS, stream: support.STREAM };
  const result = await runner.run(first, input, options);
  if (support.STREAM) await result.completed;
  history = result.history;
  return result.finalOutput;
});
await recorder.forceFlush();
