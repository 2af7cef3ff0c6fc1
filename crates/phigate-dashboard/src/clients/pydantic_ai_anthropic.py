from pydantic_ai import Agent
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.providers.anthropic import AnthropicProvider

provider = AnthropicProvider(
    base_url="http://127.0.0.1:8080",
    api_key="YOUR_PHIGATE_KEY",
)
agent = Agent(
    AnthropicModel("claude-opus-4-5", provider=provider),
)
print(agent.run_sync("Say hello.").output)
