// VoltAgent.

import { createOpenAI } from "@ai-sdk/openai";
import { Agent, createTool } from "@voltagent/core";
import { z } from "zod";

import * as support from "./support.mjs";

const provider = await support.tracerProvider();
const tools = support
  .tools(z)
  .map(({ name, description, schema, run }) =>
    createTool({ name, description, parameters: schema, execute: async (args) => run(args) }),
  );
const agent = new Agent({
  name: support.WORKER,
  instructions: support.instructions(support.WORKER),
  model: createOpenAI({ baseURL: support.API }).chat(support.MODEL),
  tools,
});
const conversation = { conversationId: "conversation_1", userId: "user_1" };
await support.askAll(async (user) => (await agent.generateText(user, conversation)).text);
await provider.forceFlush();
process.exit(0);
