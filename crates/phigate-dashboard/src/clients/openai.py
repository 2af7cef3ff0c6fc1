from openai import OpenAI

client = OpenAI(
    base_url="http://127.0.0.1:8080/v1",
    api_key="YOUR_PHIGATE_KEY",
)
answer = client.chat.completions.create(
    model="gpt-4o",
    messages=[
        {"role": "user", "content": "Say hello."},
    ],
)
print(answer.choices[0].message.content)
