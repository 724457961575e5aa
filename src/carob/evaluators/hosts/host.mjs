// Load a JavaScript assertion of promptfoo once, and call it for every line on stdin.
// `node host.mjs FILE [FUNCTION]`. What the assertion prints goes to stderr.
import { writeSync } from "node:fs";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

for (const level of ["log", "info", "debug"]) console[level] = console.error;

const [file, name] = process.argv.slice(2);
const module = await import(pathToFileURL(resolve(file)).href);
// A CommonJS module is the default export of its import.
const exported = module.default?.default ?? module.default;
const assertion = name ? (module[name] ?? exported?.[name]) : exported;
if (typeof assertion !== "function") {
  throw new Error(`${file} does not export ${name ? `the function ${name}` : "a function"}`);
}

for await (const line of createInterface({ input: process.stdin })) {
  let answer;
  try {
    const { output, context } = JSON.parse(line);
    answer = { result: await assertion(output, context) };
  } catch (error) {
    answer = { error: String(error?.stack ?? error) };
  }
  writeSync(1, JSON.stringify(answer) + "\n");
}
