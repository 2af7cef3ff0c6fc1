from llama_index.embeddings.openai import OpenAIEmbedding

embedding = OpenAIEmbedding(
    api_base="http://127.0.0.1:8080/v1",
    api_key="YOUR_PHIGATE_KEY",
    model="text-embedding-3-small",
)
print(len(embedding.get_text_embedding("Say hello.")))
