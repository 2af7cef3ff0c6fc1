from agents import Agent, Runner
from agents import set_default_openai_client
from agents import set_tracing_disabled
from openai import AsyncOpenAI

client = AsyncOpenAI(
    base_url="http://127.0.0.1:8080/v1",
    api_key="YOUR_PHIGATE_KEY",
)
set_default_openai_client(client)
set_tracing_disabled(True)

agent = Agent(name="Assistant", model="gpt-4o")
print(Runner.run_sync(agent, "Say hello.").final_output)
