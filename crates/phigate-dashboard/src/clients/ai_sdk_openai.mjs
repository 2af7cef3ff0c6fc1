import { createOpenAI } from "@ai-sdk/openai";
import { generateText } from "ai";

const phigate = createOpenAI({
  baseURL: "http://127.0.0.1:8080/v1",
  apiKey: "YOUR_PHIGATE_KEY",
});
const { text } = await generateText({
  model: phigate("gpt-4o"),
  prompt: "Say hello.",
});
console.log(text);
