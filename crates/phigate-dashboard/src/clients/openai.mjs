import OpenAI from "openai";

const client = new OpenAI({
  baseURL: "http://127.0.0.1:8080/v1",
  apiKey: "YOUR_PHIGATE_KEY",
});
const answer = await client.chat.completions.create({
  model: "gpt-4o",
  messages: [
    { role: "user", content: "Say hello." },
  ],
});
console.log(answer.choices[0].message.content);
