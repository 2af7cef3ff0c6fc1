import Anthropic from "@anthropic-ai/sdk";

const client = new Anthropic({
  baseURL: "http://127.0.0.1:8080",
  apiKey: "YOUR_PHIGATE_KEY",
});
const message = await client.messages.create({
  model: "claude-opus-4-5",
  max_tokens: 1024,
  messages: [
    { role: "user", content: "Say hello." },
  ],
});
console.log(message.content[0].text);
