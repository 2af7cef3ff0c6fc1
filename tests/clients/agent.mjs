// An agent with the official OpenAI SDK for Node: its own loop calls the tools until the model has nothing more to call.
// Arguments: base URL, key, and the task as JSON. Prints what the tools got and the model's last words.
import OpenAI from "openai";

const [baseURL, apiKey, given] = process.argv.slice(2);
const { task, result, tools, streams } = JSON.parse(given);
const client = new OpenAI({ baseURL, apiKey, maxRetries: 0, timeout: 30_000 });
const got = [];

const tool = (name) => ({
  type: "function",
  function: {
    name,
    description: "x",
    parameters: { type: "object", properties: {} },
    parse: JSON.parse,
    function: (values) => {
      got.push([name, values]);
      return result;
    },
  },
});

const runner = client.chat.completions.runTools({ model: "gpt-4o", stream: streams, messages: [{ role: "user", content: task }], tools: tools.map(tool) });
const words = await runner.finalContent();
console.log(JSON.stringify({ got, words }));
