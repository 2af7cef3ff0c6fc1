from openai import OpenAI

client = OpenAI(
    base_url="http://127.0.0.1:8080/v1",
    api_key="YOUR_PHIGATE_KEY",
)
answer = client.responses.create(
    model="gpt-4o",
    input="Say hello.",
)
print(answer.output_text)
