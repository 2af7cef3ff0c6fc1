import { createOpenAICompatible }
  from "@ai-sdk/openai-compatible";
import { generateText } from "ai";

const phigate = createOpenAICompatible({
  name: "phigate",
  baseURL: "http://127.0.0.1:8080/v1",
  apiKey: "YOUR_PHIGATE_KEY",
});
const { text } = await generateText({
  model: phigate("gpt-4o"),
  prompt: "Say hello.",
});
console.log(text);
