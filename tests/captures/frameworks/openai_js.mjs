// OpenAI's SDK for JavaScript, in a loop that runs the tools.

import { trace } from "@opentelemetry/api";
import OpenAI from "openai";

import * as support from "./support.mjs";

const content = { traceContent: support.CONTENT };

async function startRecorder() {
  const provider = await support.tracerProvider();
  if (support.RECORDER === "openinference") {
    const { OpenAIInstrumentation } = await import("@arizeai/openinference-instrumentation-openai");
    const hide = { hideInputs: !support.CONTENT, hideOutputs: !support.CONTENT };
    const instrumentation = new OpenAIInstrumentation({ traceConfig: hide });
    instrumentation.setTracerProvider(provider);
    instrumentation.manuallyInstrument(OpenAI);
  } else {
    const { OpenAIInstrumentation } = await import("@traceloop/instrumentation-openai");
    const instrumentation = new OpenAIInstrumentation(content);
    instrumentation.setTracerProvider(provider);
    instrumentation.manuallyInstrument(OpenAI);
  }
  return provider;
}

const provider = await startRecorder();
const client = new OpenAI({ baseURL: support.API });
const tools = support.plainTools();
const declared = tools.map(({ name, description, schema }) => ({
  type: "function",
  function: { name, description, parameters: schema },
}));
const messages = [{ role: "system", content: support.instructions(support.WORKER) }];

function runTool(name, args) {
  try {
    return tools.find((tool) => tool.name === name).run(args);
  } catch (error) {
    return `Error: ${error.message}`;
  }
}

// The arguments of a call; none if the model did not write JSON.
function readArgs(written) {
  try {
    return JSON.parse(written);
  } catch {
    return {};
  }
}

async function complete() {
  const request = { model: support.MODEL, messages };
  if (declared.length) request.tools = declared;
  const reply = await client.chat.completions.create(request);
  return reply.choices[0].message;
}

async function answer() {
  for (;;) {
    const message = await complete();
    messages.push(message);
    if (!message.tool_calls?.length) return message.content;
    for (const call of message.tool_calls) {
      const value = runTool(call.function.name, readArgs(call.function.arguments));
      const result = typeof value === "string" ? value : JSON.stringify(value);
      messages.push({ role: "tool", tool_call_id: call.id, content: result });
    }
  }
}

await support.askAll((user) => {
  messages.push({ role: "user", content: support.openaiContent(user) });
  return trace.getTracer("captures").startActiveSpan("request", async (span) => {
    try {
      return await answer();
    } finally {
      span.end();
    }
  });
});
await provider.forceFlush();
