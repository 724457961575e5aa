// Firebase Genkit.

import { openAI } from "@genkit-ai/compat-oai/openai";
import { genkit, z } from "genkit";

import * as support from "./support.mjs";

const provider = await support.tracerProvider();
const ai = genkit({ plugins: [openAI({ apiKey: "test", baseURL: support.API })] });
const tools = support
  .tools(z)
  .map(({ name, description, schema, run }) =>
    ai.defineTool({ name, description, inputSchema: schema, outputSchema: z.string() }, async (args) =>
      run(args),
    ),
  );
let messages = [];
const flow = ai.defineFlow(
  { name: support.WORKER, inputSchema: z.string(), outputSchema: z.string() },
  async (user) => {
    const reply = await ai.generate({
      model: openAI.model(support.MODEL),
      system: support.instructions(support.WORKER),
      messages,
      prompt: user,
      tools,
      maxTurns: support.MAX_STEPS,
    });
    messages = reply.messages.filter((message) => message.role !== "system");
    return reply.text;
  },
);
await support.askAll((user) => flow(user));
await provider.forceFlush();
process.exit(0);
