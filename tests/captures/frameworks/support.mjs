// What every JavaScript script of a framework needs: the scenario, the tools and the exporter.

export const URL = process.env.CAPTURE_URL;
export const API = `${URL}/v1`;
export const RECORDER = process.env.CAPTURE_RECORDER;
export const STREAM = process.env.CAPTURE_STREAM === "on";
export const CONTENT = process.env.CAPTURE_CONTENT === "on";
export const SCENARIO = JSON.parse(process.env.CAPTURE_SCENARIO);
export const NAME = SCENARIO.name;
export const MODEL = SCENARIO.model;
export const USERS = SCENARIO.questions.map((asked) => asked.user);
// A red dot, as PNG in base64.
export const IMAGE =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC";
export const MAX_STEPS = SCENARIO.max_steps ?? undefined;
export const WORKER = "weather_agent";
export const COORDINATOR = "coordinator";
// Whether a coordinator passes the question to the worker.
export const TEAM = SCENARIO.team;
export const IN_TWO = Boolean(TEAM);

process.env.OPENAI_API_KEY = process.env.ANTHROPIC_API_KEY = "test";
process.env.OPENAI_BASE_URL = API;
process.env.ANTHROPIC_BASE_URL = URL;
process.env.OTEL_EXPORTER_OTLP_ENDPOINT = URL;

// The instructions, by which the server knows the agent.
export function instructions(agent) {
  return `You are ${agent}. Be brief.`;
}

// Whether the message holds an image beside the text.
export function hasImage(user) {
  return SCENARIO.questions.some((asked) => asked.user === user && asked.has_image);
}

// The message as the content of OpenAI's chat completions.
export function openaiContent(user) {
  if (!hasImage(user)) return user;
  const image = { type: "image_url", image_url: { url: `data:image/png;base64,${IMAGE}` } };
  return [{ type: "text", text: user }, image];
}

function fill(template, args) {
  return template.replace(/\{(\w+)\}/g, (_, key) => args[key]);
}

function runTool(name, args) {
  const tool = SCENARIO.all_tools[name];
  if (tool.error) throw new Error(fill(tool.error, args));
  return typeof tool.result === "string" ? fill(tool.result, args) : tool.result;
}

// The tools of the scenario; `z` is the framework's version of zod.
export function tools(z) {
  const types = { string: () => z.string(), integer: () => z.number() };
  return SCENARIO.tools.map((name) => {
    const { description, parameters } = SCENARIO.all_tools[name];
    const fields = Object.entries(parameters).map(([key, type]) => [key, types[type]()]);
    const schema = z.object(Object.fromEntries(fields));
    return { name, description, schema, run: (args) => runTool(name, args) };
  });
}

// The tools of the scenario as JSON schema, for SDKs without zod.
export function plainTools() {
  return SCENARIO.tools.map((name) => {
    const { description, parameters } = SCENARIO.all_tools[name];
    const properties = Object.entries(parameters).map(([key, type]) => [key, { type }]);
    const schema = { type: "object", properties: Object.fromEntries(properties) };
    return { name, description, schema, run: (args) => runTool(name, args) };
  });
}

// A span processor that exports every span at once.
export async function spanProcessor() {
  const { OTLPTraceExporter } = await import("@opentelemetry/exporter-trace-otlp-http");
  const { SimpleSpanProcessor } = await import("@opentelemetry/sdk-trace-base");
  return new SimpleSpanProcessor(new OTLPTraceExporter({ url: `${URL}/v1/traces` }));
}

// A tracer provider with these processors, registered as the global one.
export async function tracerProvider(...processors) {
  const { NodeTracerProvider } = await import("@opentelemetry/sdk-trace-node");
  const spanProcessors = processors.length ? processors : [await spanProcessor()];
  const provider = new NodeTracerProvider({ spanProcessors });
  provider.register();
  return provider;
}

async function post(path, value) {
  const headers = { "Content-Type": "application/json" };
  await fetch(`${URL}/${path}`, { method: "POST", headers, body: JSON.stringify(value) });
}

// Report what the framework returned for a question; an error if it threw one.
export async function answer(response, error = null) {
  await post("answer", { response: response ?? null, error: error && String(error) });
}

// Ask every question; `ask` gets the question and returns the answer.
export async function askAll(ask) {
  for (const user of USERS) {
    try {
      await answer(await ask(user));
    } catch (error) {
      await answer(null, error);
    }
  }
}

// Record a document of the framework's own format.
export async function document(value) {
  await post("document", value);
}
