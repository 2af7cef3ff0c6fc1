from langchain_anthropic import ChatAnthropic

chat = ChatAnthropic(
    base_url="http://127.0.0.1:8080",
    api_key="YOUR_PHIGATE_KEY",
    model="claude-opus-4-5",
)
print(chat.invoke("Say hello.").content)
