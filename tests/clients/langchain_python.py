"""LangChain's client for OpenAI-style services."""

import openai
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from pydantic import BaseModel

from common import BASE_URL, CLEAN, KEY, MODE, MODEL, SSN, WITH_PHI, expect, finish, test


def model(**fields):
    return ChatOpenAI(**{"model": MODEL, "base_url": BASE_URL, "api_key": KEY, "max_retries": 0, "timeout": 30, "use_responses_api": False, **fields})


@tool
def get_weather(city: str) -> str:
    """Weather of a city."""
    return f"18 C in {city}"


def completion():
    reply = model(temperature=0.5).invoke([SystemMessage("Be kind."), HumanMessage("Good day."), AIMessage("Good day to you."), HumanMessage(CLEAN)])
    assert CLEAN in reply.content and reply.response_metadata["finish_reason"] == "stop", reply
    assert reply.usage_metadata["total_tokens"] == reply.usage_metadata["input_tokens"] + reply.usage_metadata["output_tokens"], reply.usage_metadata


def stream():
    whole = None
    for chunk in model(stream_usage=True).stream(CLEAN):
        whole = chunk if whole is None else whole + chunk
    assert CLEAN in whole.content and whole.usage_metadata["output_tokens"] > 0 and whole.response_metadata["finish_reason"] == "stop", whole


def tools():
    able = model().bind_tools([get_weather])
    question = HumanMessage("What is the weather in Oslo?")
    reply = able.invoke([question])
    assert [call["args"] for call in reply.tool_calls] == [{"city": "Oslo"}], reply
    results = [ToolMessage(get_weather.invoke(call["args"]), tool_call_id=call["id"]) for call in reply.tool_calls]
    assert "18 C in Oslo" in able.invoke([question, reply, *results]).content


def stream_tools():
    whole = None
    for chunk in model().bind_tools([get_weather]).stream("What is the weather in Oslo?"):
        whole = chunk if whole is None else whole + chunk
    assert [(call["name"], call["args"]) for call in whole.tool_calls] == [("get_weather", {"city": "Oslo"})], whole


class Place(BaseModel):
    """A place."""

    city: str
    size: int


def structured():
    assert model().with_structured_output(Place, method="json_schema").invoke("A place in Oslo") == Place(city="Oslo", size=1)
    assert model().with_structured_output(Place, method="function_calling").invoke("A place in Oslo") == Place(city="Oslo", size=1)


def errors():
    assert expect(openai.AuthenticationError, lambda: model(api_key="phg_wrong").invoke(CLEAN)).code == "invalid_api_key"
    assert expect(openai.NotFoundError, lambda: model(model="no-such-model").invoke(CLEAN)).code == "model_not_found"
    assert expect(openai.BadRequestError, lambda: model(temperature=3).invoke(CLEAN)).param == "temperature"
    assert expect(openai.RateLimitError, lambda: model().invoke("simulate 429")).code == "provider_rate_limited"
    expect(openai.APIError, lambda: list(model().stream("simulate cut, please, in the middle of all these words")))


def masked():
    for reply in (model().invoke(WITH_PHI).content, "".join(str(chunk.content) for chunk in model().stream(WITH_PHI))):
        assert SSN not in reply and "[SSN]" in reply, reply


def blocked():
    for ask in (lambda: model().invoke(WITH_PHI), lambda: list(model().stream(WITH_PHI))):
        raised = expect(openai.PermissionDeniedError, ask)
        assert (raised.code, raised.body["phi_types"]) == ("phi_blocked", ["ssn"]), raised
    assert CLEAN in model().invoke(CLEAN).content


PLANS = {"flag": [completion, stream, tools, stream_tools, structured, errors], "mask": [masked], "block": [blocked]}
for function in PLANS[MODE]:
    test(function.__name__, function)
finish()
