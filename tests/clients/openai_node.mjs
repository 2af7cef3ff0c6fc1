// The official OpenAI SDK for Node.
import OpenAI from "openai";
import { CLEAN, SSN, WITH_PHI, apiKey, assert, baseURL, model, runAll, thrown } from "./common.mjs";

const client = new OpenAI({ baseURL, apiKey, maxRetries: 0, timeout: 30_000 });
const weather = { type: "function", function: { name: "get_weather", description: "Weather of a city", parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] } } };
const user = (content) => [{ role: "user", content }];
const say = (content, fields = {}, options = {}) => client.chat.completions.create({ model, messages: user(content), ...fields }, options);

async function textOf(stream) {
  let text = "";
  for await (const chunk of stream) text += chunk.choices[0]?.delta?.content ?? "";
  return text;
}

async function completion() {
  const reply = await say(CLEAN, { temperature: 0.5, max_tokens: 200 });
  const { message, finish_reason } = reply.choices[0];
  assert(message.content.includes(CLEAN) && finish_reason === "stop", reply);
  assert(reply.usage.total_tokens === reply.usage.prompt_tokens + reply.usage.completion_tokens, reply.usage);
}

async function stream() {
  assert((await textOf(await say(CLEAN, { stream: true }))).includes(CLEAN));
  const runner = client.chat.completions.stream({ model, messages: user(CLEAN), stream_options: { include_usage: true } });
  const final = await runner.finalChatCompletion();
  assert(final.choices[0].message.content.includes(CLEAN) && final.usage.completion_tokens > 0, final);
}

async function tools() {
  const messages = user("What is the weather in Oslo?");
  const first = (await client.chat.completions.create({ model, messages, tools: [weather] })).choices[0];
  const [call] = first.message.tool_calls;
  assert(first.finish_reason === "tool_calls" && JSON.parse(call.function.arguments).city === "Oslo", first);
  messages.push(first.message, { role: "tool", tool_call_id: call.id, content: "18 C" });
  const last = await client.chat.completions.create({ model, messages, tools: [weather] });
  assert(last.choices[0].message.content.includes("18 C"), last);
}

async function streamTools() {
  const runner = client.chat.completions.stream({ model, messages: user("What is the weather in Oslo?"), tools: [weather] });
  const { message, finish_reason } = (await runner.finalChatCompletion()).choices[0];
  assert(finish_reason === "tool_calls" && JSON.parse(message.tool_calls[0].function.arguments).city === "Oslo", message);
}

async function errors() {
  const status = async (run, code, number) => {
    const error = await thrown(run);
    assert(error instanceof OpenAI.APIError && error.status === number && error.code === code, { code: error.code, status: error.status, text: String(error) });
    return error;
  };
  await status(() => new OpenAI({ baseURL, apiKey: "phg_wrong", maxRetries: 0 }).chat.completions.create({ model, messages: user(CLEAN) }), "invalid_api_key", 401);
  await status(() => client.chat.completions.create({ model: "no-such-model", messages: user(CLEAN) }), "model_not_found", 404);
  const wrong = await status(() => client.chat.completions.create({ model, messages: [] }), "invalid_value", 400);
  assert(wrong.param === "messages", wrong.param);
  await status(() => say("simulate 429"), "provider_rate_limited", 429);
  await status(() => say("simulate 500"), "provider_error", 502);
}

async function timesOut() {
  const error = await thrown(() => say("simulate slow", {}, { timeout: 500 }));
  assert(error instanceof OpenAI.APIConnectionTimeoutError, String(error));
}

async function cutStream() {
  const error = await thrown(async () => textOf(await say("simulate cut, please, in the middle of all these words", { stream: true })));
  assert(error instanceof OpenAI.APIError, String(error));
}

async function masked() {
  for (const text of [(await say(WITH_PHI)).choices[0].message.content, await textOf(await say(WITH_PHI, { stream: true }))]) {
    assert(text.includes("[SSN]") && !text.includes(SSN), text);
  }
}

async function blocked() {
  for (const stream of [false, true]) {
    const error = await thrown(() => say(WITH_PHI, { stream }));
    assert(error instanceof OpenAI.PermissionDeniedError && error.code === "phi_blocked" && error.type === "phi_error", String(error));
    assert(error.error.phi_types.join() === "ssn" && !String(error).includes(SSN), error.error);
  }
  assert((await say(CLEAN)).choices[0].message.content.includes(CLEAN));
}

await runAll({ flag: [completion, stream, tools, streamTools, errors, timesOut, cutStream], mask: [masked], block: [blocked] });
