from llama_index.llms.openai_like import OpenAILike

llm = OpenAILike(
    api_base="http://127.0.0.1:8080/v1",
    api_key="YOUR_PHIGATE_KEY",
    model="gpt-4o",
    is_chat_model=True,
)
print(llm.complete("Say hello."))
