import { createAnthropic } from "@ai-sdk/anthropic";
import { generateText } from "ai";

const phigate = createAnthropic({
  baseURL: "http://127.0.0.1:8080/v1",
  apiKey: "YOUR_PHIGATE_KEY",
});
const { text } = await generateText({
  model: phigate("claude-opus-4-5"),
  prompt: "Say hello.",
});
console.log(text);
