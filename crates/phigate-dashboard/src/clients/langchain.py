from langchain_openai import ChatOpenAI

chat = ChatOpenAI(
    base_url="http://127.0.0.1:8080/v1",
    api_key="YOUR_PHIGATE_KEY",
    model="gpt-4o",
)
print(chat.invoke("Say hello.").content)
