"""Agents of several turns with the official OpenAI SDKs, in mask mode with values given back.

An agent's tools must get the patient's own values, and the provider must never see one. The provider here is a small
model of its own: it copies the tokens that it was shown into tool calls, as a language model would, and keeps every byte
it was sent. The agent in Python is here, the one for Node in agent.mjs. Arguments: the gateway's program, agent.mjs.
"""

import http.server
import itertools
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import threading

from openai import OpenAI

NAME, MRN, PHONE = "Jane Roe", "00482913", "206-555-0142"
TASK = f"The patient's name is {NAME}, MRN: {MRN}. Look up the chart and write to the patient."
RESULT = f"Please call the patient back on {PHONE} after lunch."
VALUES = [NAME, "Roe", MRN, PHONE, "555-0142"]
TOKEN = re.compile(r"\[[A-Z_]+_[0-9A-Z]{5,}\]")
TOOLS = [{"type": "function", "function": {"name": name, "description": "x", "parameters": {"type": "object", "properties": {}}}} for name in ("look_up_chart", "send_letter")]
sent = []


def tokens_of(body, kind):
    return list(dict.fromkeys(token for token in TOKEN.findall(json.dumps(body, ensure_ascii=False)) if token.startswith(f"[{kind}_")))


def think(body):
    """Returns the model's message: look the patient up, then write, then report that it is done."""
    turn = sum(message["role"] == "tool" for message in body["messages"])
    name, mrn = tokens_of(body, "NAME")[0], tokens_of(body, "MRN")[0]
    if turn == 0:
        return None, ("look_up_chart", {"name": name, "mrn": mrn})
    if turn == 1:
        return None, ("send_letter", {"to": name, "phone": tokens_of(body, "PHONE")[0], "text": f"Dear {name}, please call. Not for https://example.org/{name[1:-1]}"})
    return f"I wrote to {name} ({mrn}).", None


class Model(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        raw = self.rfile.read(int(self.headers["content-length"]))
        sent.append(raw.decode())
        body = json.loads(raw)
        content, call = think(body)
        message = {"role": "assistant", "content": content}
        if call:
            message["tool_calls"] = [{"index": 0, "id": f"call_{len(sent)}", "type": "function", "function": {"name": call[0], "arguments": json.dumps(call[1])}}]
        finish = "tool_calls" if call else "stop"
        if body.get("stream"):
            self.stream(message, finish)
        else:
            reply = {"id": "c", "object": "chat.completion", "created": 1, "model": body["model"], "choices": [{"index": 0, "message": message, "finish_reason": finish}]}
            self.answer("application/json", json.dumps(reply).encode())

    def stream(self, message, finish):
        events = []
        base = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}

        def event(delta, reason=None):
            events.append("data: " + json.dumps({**base, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}) + "\n\n")
        event({"role": "assistant", "content": None})
        for piece in message["content"] or "":
            event({"content": piece})
        for call in message.get("tool_calls", []):
            event({"tool_calls": [{**call, "function": {"name": call["function"]["name"], "arguments": ""}}]})
            for piece in call["function"]["arguments"]:
                event({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]})
        event({}, finish)
        self.answer("text/event-stream", ("".join(events) + "data: [DONE]\n\n").encode())

    def answer(self, media_type, data):
        self.send_response(200)
        self.send_header("content-type", media_type)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


def python_agent(base_url, key, streams):
    """Asks until the model calls no further tool; returns the tools' arguments and the last text."""
    client = OpenAI(base_url=base_url, api_key=key, max_retries=0, timeout=30)
    messages, got = [{"role": "user", "content": TASK}], []
    while True:
        if streams:
            with client.chat.completions.stream(model="gpt-4o", messages=messages, tools=TOOLS) as events:
                for _ in events:
                    pass
                message = events.get_final_completion().choices[0].message
        else:
            message = client.chat.completions.create(model="gpt-4o", messages=messages, tools=TOOLS).choices[0].message
        if not message.tool_calls:
            return got, message.content
        messages.append({"role": "assistant", "content": message.content, "tool_calls": [{"id": call.id, "type": "function", "function": {"name": call.function.name, "arguments": call.function.arguments}} for call in message.tool_calls]})
        for call in message.tool_calls:
            got.append([call.function.name, json.loads(call.function.arguments)])
            messages.append({"role": "tool", "tool_call_id": call.id, "content": RESULT})


def node_agent(base_url, key, streams):
    """Runs the agent with the SDK for Node, whose own loop calls the tools."""
    task = {"task": TASK, "result": RESULT, "tools": [tool["function"]["name"] for tool in TOOLS], "streams": streams}
    command = ["node", sys.argv[2], base_url, key, json.dumps(task)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr[-400:]
    answer = json.loads(done.stdout)
    return answer["got"], answer["words"]


def check(agent, base_url, key, streams):
    sent.clear()
    got, words = agent(base_url, key, streams)
    assert [name for name, _ in got] == ["look_up_chart", "send_letter"], got
    assert got[0][1] == {"name": NAME, "mrn": MRN}, got[0]
    letter = got[1][1]
    assert (letter["to"], letter["phone"]) == (NAME, PHONE), letter
    assert letter["text"].startswith(f"Dear {NAME}, please call.") and letter["text"].count(NAME) == 1, letter
    assert words == f"I wrote to {NAME} ({MRN}).", words
    for body in sent:
        for value in VALUES:
            assert value not in body and json.dumps(value)[1:-1] not in body, f"the provider saw {value}"
    assert len(sent) == 3 and len({tuple(tokens_of(json.loads(body), "NAME")) for body in sent}) == 1, "tokens differ between turns"


def main():
    program = sys.argv[1]
    model = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=model.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory(prefix="phigate-agent-") as folder:
        options = ["--data", f"{folder}/data", "--master-key-file", f"{folder}/data.key"]
        environment = {"PATH": "/usr/bin:/bin", "PHIGATE_ALLOW_PRIVATE_PROVIDERS": "true"}

        def command(*words, **more):
            return subprocess.run([program, *options, *words], capture_output=True, text=True, check=True, env=environment, **more).stdout.strip()
        command("provider", "set", "openai", "--base-url", f"http://127.0.0.1:{model.server_port}", "--key-stdin", input="sk-test-of-no-value")
        command("mode", "set", "mask")
        command("restore", "set", "on")
        log = pathlib.Path(folder, "log").open("w")
        server = subprocess.Popen([program, *options, "serve", "--listen", "127.0.0.1:0", "--metrics-listen", "off"], stdout=subprocess.PIPE, stderr=log, text=True, env=environment)
        try:
            base_url = server.stdout.readline().split()[-1] + "/v1"
            key = command("key", "create")
            for agent, streams in itertools.product((python_agent, node_agent), (False, True)):
                name = agent.__name__ + ("_streams" if streams else "")
                try:
                    check(agent, base_url, key, streams)
                    result = {"test": name, "ok": True, "detail": ""}
                except Exception as reason:  # noqa: BLE001: a client may raise anything
                    result = {"test": name, "ok": False, "detail": f"{type(reason).__name__}: {str(reason)[:400]}"}
                print(json.dumps(result), flush=True)
        finally:
            server.terminate()
            server.wait(timeout=60)
            model.shutdown()


main()
