// The Vercel AI SDK, with both of its OpenAI-style providers.
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { APICallError, generateObject, generateText, stepCountIs, streamText, tool } from "ai";
import { z } from "zod";
import { CLEAN, SSN, WITH_PHI, apiKey, assert, baseURL, model, runAll, thrown } from "./common.mjs";

const providers = [
  (key = apiKey) => createOpenAI({ baseURL, apiKey: key }).chat,
  (key = apiKey) => createOpenAICompatible({ name: "phigate", baseURL, apiKey: key, includeUsage: true, supportsStructuredOutputs: true }),
];
const quiet = { maxRetries: 0, onError() {} };
const tools = { get_weather: tool({ description: "Weather of a city", inputSchema: z.object({ city: z.string() }), execute: async ({ city }) => `18 C in ${city}` }) };
const each = (name, run) => Object.defineProperty(async () => { for (const provider of providers) await run(provider); }, "name", { value: name });

const completion = each("completion", async (provider) => {
  const reply = await generateText({ model: provider()(model), system: "Be kind.", prompt: CLEAN, ...quiet });
  assert(reply.text.includes(CLEAN) && reply.finishReason === "stop" && reply.usage.totalTokens > 0, reply.text);
});

const stream = each("stream", async (provider) => {
  const reply = streamText({ model: provider()(model), prompt: CLEAN, ...quiet });
  let text = "";
  for await (const piece of reply.textStream) text += piece;
  assert(text.includes(CLEAN) && (await reply.finishReason) === "stop" && (await reply.usage).totalTokens > 0, text);
});

const toolTurns = each("toolTurns", async (provider) => {
  const reply = await generateText({ model: provider()(model), prompt: "What is the weather in Oslo?", tools, stopWhen: stepCountIs(3), ...quiet });
  assert(reply.steps.length === 2 && reply.text.includes("18 C in Oslo"), reply.text);
});

const streamTools = each("streamTools", async (provider) => {
  const reply = streamText({ model: provider()(model), prompt: "What is the weather in Oslo?", tools, stopWhen: stepCountIs(3), ...quiet });
  const seen = new Set();
  for await (const part of reply.fullStream) seen.add(part.type);
  assert(seen.has("tool-call") && seen.has("tool-result") && seen.has("text-delta") && !seen.has("error"), [...seen]);
});

const structured = each("structured", async (provider) => {
  const reply = await generateObject({ model: provider()(model), schema: z.object({ city: z.string(), size: z.number() }), prompt: "A place in Oslo", ...quiet });
  assert(reply.object.city === "Oslo", reply.object);
});

const errors = each("errors", async (provider) => {
  const status = async (number, run) => {
    const error = await thrown(run);
    assert(APICallError.isInstance(error) && error.statusCode === number, { status: error.statusCode, text: String(error) });
    return error;
  };
  await status(401, () => generateText({ model: provider("phg_wrong")(model), prompt: CLEAN, ...quiet }));
  await status(404, () => generateText({ model: provider()("no-such-model"), prompt: CLEAN, ...quiet }));
  const limited = await status(429, () => generateText({ model: provider()(model), prompt: "simulate 429", ...quiet }));
  assert(limited.isRetryable, "a rate limit can be retried");
});

const cutStream = each("cutStream", async (provider) => {
  // The SDK throws or gives an error part, depending on the bytes that arrived; silence would be wrong.
  let error;
  const prompt = "simulate cut, please, in the middle of all these words";
  try {
    const reply = streamText({ model: provider()(model), prompt, maxRetries: 0, onError: (event) => { error = event.error; } });
    for await (const part of reply.fullStream) if (part.type === "error") error = part.error;
  } catch (reason) {
    error = reason;
  }
  assert(error, "the cut went unnoticed");
});

const masked = each("masked", async (provider) => {
  const reply = await generateText({ model: provider()(model), prompt: WITH_PHI, ...quiet });
  assert(reply.text.includes("[SSN]") && !reply.text.includes(SSN), reply.text);
});

const blocked = each("blocked", async (provider) => {
  const error = await thrown(() => generateText({ model: provider()(model), prompt: WITH_PHI, ...quiet }));
  const body = JSON.parse(error.responseBody);
  assert(error.statusCode === 403 && body.error.code === "phi_blocked" && body.error.phi_types.join() === "ssn", body);
});

await runAll({ flag: [completion, stream, toolTurns, streamTools, structured, errors, cutStream], mask: [masked], block: [blocked] });
