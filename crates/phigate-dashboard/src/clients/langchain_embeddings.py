from langchain_openai import OpenAIEmbeddings

embeddings = OpenAIEmbeddings(
    base_url="http://127.0.0.1:8080/v1",
    api_key="YOUR_PHIGATE_KEY",
    model="text-embedding-3-small",
    check_embedding_ctx_length=False,
)
print(len(embeddings.embed_query("Say hello.")))
