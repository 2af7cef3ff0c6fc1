"""The official OpenAI SDK for Python."""

import asyncio
import json

import openai
from openai import AsyncOpenAI, OpenAI
from pydantic import BaseModel

from common import BASE_URL, CLEAN, CLOCK, KEY, MODE, MODEL, SSN, WEATHER, WITH_PHI, expect, finish, test

client = OpenAI(base_url=BASE_URL, api_key=KEY, max_retries=0, timeout=30)


def say(text, **fields):
    return client.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": text}], **fields)


def completion():
    reply = client.chat.completions.create(model=MODEL, temperature=0.5, max_tokens=200, messages=[
        {"role": "system", "content": "Be kind."}, {"role": "user", "content": "Good day."}, {"role": "assistant", "content": "Good day to you."}, {"role": "user", "content": [{"type": "text", "text": CLEAN}]}])
    choice = reply.choices[0]
    assert reply.object == "chat.completion" and choice.message.role == "assistant" and choice.finish_reason == "stop", reply
    assert CLEAN in choice.message.content, choice.message.content
    assert reply.usage.total_tokens == reply.usage.prompt_tokens + reply.usage.completion_tokens > 0, reply.usage


def stream():
    text, ids, finish_reason, usage = "", set(), None, None
    for chunk in say(CLEAN, stream=True, stream_options={"include_usage": True}):
        ids.add(chunk.id)
        usage = chunk.usage or usage
        for choice in chunk.choices:
            text += choice.delta.content or ""
            finish_reason = choice.finish_reason or finish_reason
    assert CLEAN in text and finish_reason == "stop" and len(ids) == 1 and usage.completion_tokens > 0, (text, finish_reason, ids, usage)


def stream_without_usage():
    assert all(chunk.usage is None for chunk in say(CLEAN, stream=True))


def async_stream():
    async def read():
        async with AsyncOpenAI(base_url=BASE_URL, api_key=KEY, max_retries=0) as patient:
            chunks = await patient.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": CLEAN}], stream=True)
            return "".join([chunk.choices[0].delta.content or "" async for chunk in chunks if chunk.choices])
    assert CLEAN in asyncio.run(read())


def tools():
    messages = [{"role": "user", "content": "What are the weather and the clock in Oslo?"}]
    first = client.chat.completions.create(model=MODEL, messages=messages, tools=[WEATHER, CLOCK]).choices[0]
    calls = first.message.tool_calls
    assert first.finish_reason == "tool_calls" and [call.function.name for call in calls] == ["get_weather", "get_clock"], first
    assert all(json.loads(call.function.arguments) == {"city": "Oslo"} for call in calls) and calls[0].id != calls[1].id, calls
    messages.append(first.message)
    messages += [{"role": "tool", "tool_call_id": call.id, "content": f"result {number}"} for number, call in enumerate(calls)]
    last = client.chat.completions.create(model=MODEL, messages=messages, tools=[WEATHER, CLOCK]).choices[0].message.content
    assert "result 0" in last and "result 1" in last, last


def stream_tools():
    with client.chat.completions.stream(model=MODEL, messages=[{"role": "user", "content": "What is the weather in Oslo?"}], tools=[WEATHER]) as events:
        for _ in events:
            pass
        choice = events.get_final_completion().choices[0]
    call = choice.message.tool_calls[0]
    assert choice.finish_reason == "tool_calls" and call.id and json.loads(call.function.arguments) == {"city": "Oslo"}, choice


def forced_tool():
    for choice in ("required", {"type": "function", "function": {"name": "get_weather"}}):
        assert say("Hello.", tools=[WEATHER], tool_choice=choice).choices[0].message.tool_calls, choice
    assert not say("What is the weather in Oslo?", tools=[WEATHER], tool_choice="none").choices[0].message.tool_calls


class Place(BaseModel):
    city: str
    size: int


def structured():
    reply = client.chat.completions.parse(model=MODEL, messages=[{"role": "user", "content": "A place in Oslo"}], response_format=Place)
    assert reply.choices[0].message.parsed == Place(city="Oslo", size=1), reply


def headers():
    raw = client.chat.completions.with_raw_response.create(model=MODEL, messages=[{"role": "user", "content": WITH_PHI}])
    seen = raw.headers
    assert (seen["x-gateway-phi-detected"], seen["x-gateway-phi-types"]) == ("true", "ssn") and seen["x-gateway-request-id"], dict(seen)
    text = raw.parse().choices[0].message.content
    assert (SSN in text, "[SSN]" in text) == ((True, False) if MODE == "flag" else (False, True)), text


def masked_stream():
    text = "".join(choice.delta.content or "" for chunk in say(WITH_PHI, stream=True) for choice in chunk.choices)
    assert SSN not in text and "[SSN]" in text, text


def wrong_key():
    stranger = OpenAI(base_url=BASE_URL, api_key="phg_wrong", max_retries=0)
    raised = expect(openai.AuthenticationError, lambda: stranger.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": CLEAN}]))
    assert (raised.status_code, raised.code) == (401, "invalid_api_key"), raised


def wrong_request():
    raised = expect(openai.BadRequestError, lambda: client.chat.completions.create(model=MODEL, messages=[]))
    assert (raised.status_code, raised.param, raised.code) == (400, "messages", "invalid_value"), raised
    raised = expect(openai.BadRequestError, lambda: say(CLEAN, temperature=3))
    assert (raised.param, raised.code) == ("temperature", "invalid_value"), raised


def unknown_model():
    for streams in (False, True):
        raised = expect(openai.NotFoundError, lambda: client.chat.completions.create(model="no-such-model", messages=[{"role": "user", "content": CLEAN}], stream=streams))
        assert raised.code == "model_not_found", raised


def provider_failures():
    raised = expect(openai.RateLimitError, lambda: say("simulate 429"))
    assert raised.code == "provider_rate_limited" and raised.response.headers["retry-after"] == "1", raised
    raised = expect(openai.InternalServerError, lambda: say("simulate 500"))
    assert (raised.status_code, raised.code) == (502, "provider_error"), raised
    raised = expect(openai.InternalServerError, lambda: say("simulate 503", stream=True))
    assert (raised.status_code, raised.code) == (503, "provider_overloaded"), raised


def retries():
    eager = client.with_options(max_retries=1)
    raw = expect(openai.InternalServerError, lambda: eager.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": "simulate 500"}]))
    assert raw.request.headers["x-stainless-retry-count"] == "1", raw.request.headers


def times_out():
    expect(openai.APITimeoutError, lambda: client.with_options(timeout=0.5).chat.completions.create(model=MODEL, messages=[{"role": "user", "content": "simulate slow"}]))
    assert "slow" in say("simulate slow").choices[0].message.content


def cut_stream():
    raised = expect(openai.APIError, lambda: list(say("simulate cut, please, in the middle of all these words", stream=True)))
    assert raised.code == "provider_error", raised


def gives_up_reading():
    chunks = say(CLEAN, stream=True)
    next(iter(chunks))
    chunks.close()
    assert CLEAN in say(CLEAN).choices[0].message.content


def blocked():
    for streams in (False, True):
        raised = expect(openai.PermissionDeniedError, lambda: say(WITH_PHI, stream=streams))
        assert (raised.status_code, raised.code, raised.type) == (403, "phi_blocked", "phi_error"), raised
        assert raised.body["phi_types"] == ["ssn"] and SSN not in str(raised), raised.body
        assert raised.response.headers["x-gateway-phi-detected"] == "true"
    assert CLEAN in say(CLEAN).choices[0].message.content


PLANS = {
    "flag": [completion, stream, stream_without_usage, async_stream, tools, stream_tools, forced_tool, structured, headers, wrong_key, wrong_request, unknown_model, provider_failures, retries, times_out, cut_stream, gives_up_reading],
    "mask": [completion, headers, masked_stream],
    "block": [blocked],
}
for function in PLANS[MODE]:
    test(function.__name__, function)
finish()
