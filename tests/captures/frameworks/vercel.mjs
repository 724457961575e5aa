// Vercel AI SDK: an agent is a call of generateText with a function id.

import { createRequire } from "node:module";

import * as ai from "ai";
import { createOpenAI } from "@ai-sdk/openai";
import { z } from "zod";

import * as support from "./support.mjs";

const openai = createOpenAI({ baseURL: support.API, apiKey: "test" });
const isChat = support.RECORDER.endsWith("-chat");

async function startRecorder() {
  if (ai.registerTelemetry) {
    const { OpenTelemetry } = await import("@ai-sdk/otel"); // from v7 on
    ai.registerTelemetry(new OpenTelemetry());
  }
  if (!support.RECORDER.startsWith("openinference")) return support.tracerProvider();
  // Its ES modules do not load in Node 20.
  const require = createRequire(import.meta.url);
  const { OpenInferenceSimpleSpanProcessor } = require("@arizeai/openinference-vercel");
  const { OTLPTraceExporter } = await import("@opentelemetry/exporter-trace-otlp-http");
  const exporter = new OTLPTraceExporter({ url: `${support.URL}/v1/traces` });
  return support.tracerProvider(new OpenInferenceSimpleSpanProcessor({ exporter }));
}

async function runAgent(name, tools, messages, maxSteps = 8) {
  const settings = {
    model: isChat ? openai.chat(support.MODEL) : openai(support.MODEL),
    system: support.instructions(name),
    messages,
    tools,
    stopWhen: ai.stepCountIs(maxSteps),
    experimental_telemetry: {
      isEnabled: true,
      functionId: name,
      recordInputs: support.CONTENT,
      recordOutputs: support.CONTENT,
      metadata: { sessionId: "session_1" },
    },
  };
  const result = support.STREAM ? ai.streamText(settings) : await ai.generateText(settings);
  if (support.STREAM) await result.consumeStream();
  return { text: await result.text, messages: (await result.response).messages };
}

const tools = Object.fromEntries(
  support.tools(z).map(({ name, description, schema, run }) => [
    name,
    ai.tool({ description, inputSchema: schema, execute: run }),
  ]),
);
const coordinatorTools = {
  ask_weather_agent: ai.tool({
    description: "Ask the weather agent.",
    inputSchema: z.object({ input: z.string() }),
    execute: async ({ input }) =>
      (await runAgent(support.WORKER, tools, [{ role: "user", content: input }])).text,
  }),
};

function buildContent(user) {
  if (!support.hasImage(user)) return user;
  const image = { type: "image", image: support.IMAGE, mediaType: "image/png" };
  return [{ type: "text", text: user }, image];
}

const provider = await startRecorder();
const messages = [];
await support.askAll(async (user) => {
  messages.push({ role: "user", content: buildContent(user) });
  const result = support.IN_TWO
    ? await runAgent(support.COORDINATOR, coordinatorTools, messages)
    : await runAgent(support.WORKER, tools, messages, support.MAX_STEPS);
  messages.push(...result.messages);
  return result.text || null; // empty at the step limit
});
await provider.forceFlush();
