from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

provider = OpenAIProvider(
    base_url="http://127.0.0.1:8080/v1",
    api_key="YOUR_PHIGATE_KEY",
)
agent = Agent(OpenAIChatModel("gpt-4o", provider=provider))
print(agent.run_sync("Say hello.").output)
