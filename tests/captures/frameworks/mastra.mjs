// Mastra, whose own exporters write OTel or OpenInference.

import { createOpenAI } from "@ai-sdk/openai";
import { Agent } from "@mastra/core/agent";
import * as core from "@mastra/core";
import { createTool } from "@mastra/core/tools";
import { z } from "zod";

import * as support from "./support.mjs";

// Before 1.0, tools get their arguments in a context, and observability is part of the core.
const IS_OLD = process.env.CAPTURE_OLD === "on";
const openai = createOpenAI({ baseURL: support.API, apiKey: "test" });
const model = openai.chat(support.MODEL);

async function createExporter() {
  if (support.RECORDER === "openinference") {
    const { ArizeExporter } = await import("@mastra/arize");
    return new ArizeExporter({ endpoint: `${support.URL}/v1/traces`, projectName: "weather" });
  }
  const { OtelExporter } = await import("@mastra/otel-exporter");
  const endpoint = `${support.URL}/v1/traces`;
  return new OtelExporter({ provider: { custom: { endpoint, protocol: "http/json" } } });
}

const exporter = await createExporter();

async function observability() {
  const configs = { otel: { serviceName: "weather", exporters: [exporter] } };
  if (IS_OLD) return { configs };
  const { Observability } = await import("@mastra/observability");
  return new Observability({ configs });
}

function adapt(tool) {
  const { name, description, schema, run } = tool;
  const execute = async (input) => run(IS_OLD ? input.context : input);
  return createTool({ id: name, description, inputSchema: schema, execute });
}

function buildAgent(name, tools) {
  return new Agent({ id: name, name, instructions: support.instructions(name), model, tools });
}

const tools = Object.fromEntries(support.tools(z).map((tool) => [tool.name, adapt(tool)]));
const worker = buildAgent(support.WORKER, tools);
const handOver = {
  name: "ask_weather_agent",
  description: "Ask the weather agent.",
  schema: z.object({ input: z.string() }),
};
const coordinator = buildAgent(support.COORDINATOR, {
  ask_weather_agent: createTool({
    id: handOver.name,
    description: handOver.description,
    inputSchema: handOver.schema,
    execute: async (input, context) => {
      const { input: question } = IS_OLD ? input.context : input;
      const tracingContext = IS_OLD ? input.tracingContext : context?.tracingContext;
      const result = await registered(support.WORKER).generate(question, { tracingContext });
      return result.text;
    },
  }),
});
const mastra = new core.Mastra({
  agents: { [support.WORKER]: worker, [support.COORDINATOR]: coordinator },
  observability: await observability(),
  logger: false,
});

function registered(name) {
  return mastra.getAgent(name);
}

const messages = [];
await support.askAll(async (user) => {
  messages.push({ role: "user", content: user });
  const agent = registered(support.IN_TWO ? support.COORDINATOR : support.WORKER);
  const options = { maxSteps: support.MAX_STEPS ?? 8 };
  if (!support.CONTENT) options.tracingOptions = { hideInput: true, hideOutput: true };
  const result = support.STREAM
    ? await agent.stream(messages, options)
    : await agent.generate(messages, options);
  if (support.STREAM) await result.consumeStream();
  const text = await result.text;
  messages.push(...(await result.response).messages);
  return text;
});
await new Promise((resolve) => setTimeout(resolve, 500));
await exporter.shutdown();
process.exit(0);
