"""docs/clients.md, word for word: every block of the page is run against a real gateway with simulated providers.

`docs.py` runs what installs quickly, `docs.py --all` the rest of the page as well. Only the address, the key and, where a
program has no prompt of its own, a question on standard input are put in. A block that nothing here runs is a failure.
"""

import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

from demo import BINARY, ROOT, WORK, Demo

PAGE = ROOT / "docs" / "clients.md"
ADDRESS, KEY = "http://127.0.0.1:8080", "YOUR_PHIGATE_KEY"
# Sections whose programs take long to install; `--all` runs these.
LARGE = {"Claude Code", "Codex", "LlamaIndex", "LiteLLM", "Open WebUI"}
# The simulated model's answer to the page's question, and the length of its embeddings.
ANSWER, DIMENSIONS = "You said: Say hello.", "1536"
# LiteLLM's own key; it does not start without one.
LITELLM_KEY = "sk-" + "0123456789abcdef" * 4
# Words of blocks that request no answer of a model.
EMBEDS = ("Embedding", "embed_query")


def blocks():
    """Returns every block of the page: section, language and code."""
    text = PAGE.read_text(encoding="utf-8")
    found = []
    for section in text.split("\n## ")[1:]:
        title = section.split("\n", 1)[0].strip()
        found += [(title, language, code) for language, code in re.findall(r"^```(\w+)\n(.*?)^```$", section, re.M | re.S)]
    return found


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Page:
    """Runs blocks in a temporary home, without a user's settings."""

    def __init__(self, demo, folder, tools):
        self.demo, self.tools = demo, tools
        self.address = demo.base_url.removesuffix("/v1")
        self.key = demo.command("key", "create")
        self.home = pathlib.Path(folder) / "home"
        self.home.mkdir()
        (self.home / "phigate").symlink_to(BINARY)
        (self.home / "litellm-key.txt").write_text(LITELLM_KEY + "\n")

    def environment(self):
        path = [str(self.home), *map(str, self.tools), os.environ["PATH"]]
        kept = {name: os.environ[name] for name in ("LANG", "TMPDIR") if name in os.environ}
        gateway = {"PHIGATE_DATA": self.demo.options[1], "PHIGATE_MASTER_KEY_FILE": self.demo.options[3], "PHIGATE_ALLOW_PRIVATE_PROVIDERS": "true"}
        return {**kept, **gateway, "HOME": str(self.home), "PATH": ":".join(path)}

    def filled(self, code):
        return code.replace(ADDRESS, self.address).replace(KEY, self.key)

    def run(self, command, given="", more=None, where=None):
        """Runs a command; returns its standard output. A failure quotes the end of its output."""
        done = subprocess.run(command, cwd=where or self.home, env={**self.environment(), **(more or {})}, input=given, capture_output=True, text=True, timeout=180)
        assert done.returncode == 0, f"exit {done.returncode}: {done.stderr[-800:]} {done.stdout[-800:]}"
        return done.stdout

    def python(self, code):
        return self.run(["python", "-c", self.filled(code)])

    def js(self, code):
        # Node searches packages beside the script.
        modules = next(tool.parent for tool in self.tools if tool.name == ".bin").parent
        script = modules / "block.mjs"
        script.write_text(self.filled(code))
        return self.run(["node", str(script)])

    def sh(self, code, given=""):
        return self.run(["bash", "-euc", self.filled(code)], given)


def asked(page, code, given=""):
    """Runs a program in the block's language that asks the page's question."""
    language = code[0]
    out = getattr(page, language)(code[1]) if language != "sh" else page.sh(code[1], given)
    wanted = DIMENSIONS if any(word in code[1] for word in EMBEDS) else ANSWER
    assert wanted in out, f"{wanted!r} is not in {out[-600:]!r}"


def variables(page, code):
    """Runs a program that reads only the two variables."""
    script = code[1] + "python -c \"from openai import OpenAI; print(OpenAI().responses.create(model='gpt-4o', input='Say hello.').output_text)\""
    assert ANSWER in page.sh(script)


def piped(page, code):
    """Runs a program that reads its question from standard input and adds its own text in front."""
    out = page.sh(code[1], "Say hello.")
    assert "You said: " in out and "Say hello." in out, out[-600:]


def codex_settings(page, code):
    folder = page.home / ".codex"
    folder.mkdir(exist_ok=True)
    (folder / "config.toml").write_text(page.filled(code[1]))


def codex(page, code):
    """Runs Codex in a repository, which it requires."""
    work = page.home / "work"
    work.mkdir(exist_ok=True)
    page.run(["git", "init", "-q"], where=work)
    out = page.run(["bash", "-euc", page.filled(code[1])], where=work)
    assert ANSWER in out, out[-600:]


class LiteLlm:
    """Runs LiteLLM's proxy with these settings."""

    def __init__(self, page, settings):
        self.port = free_port()
        config = page.home / f"litellm-{self.port}.yaml"
        config.write_text(settings)
        self.log = open(page.home / f"litellm-{self.port}.log", "w+")
        command = [shutil.which("litellm", path=page.environment()["PATH"]), "--config", str(config), "--host", "127.0.0.1", "--port", str(self.port)]
        self.process = subprocess.Popen(command, env={**page.environment(), "LITELLM_MASTER_KEY": LITELLM_KEY}, cwd=page.home, stdout=self.log, stderr=self.log)

    def __enter__(self):
        for _ in range(600):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health/liveliness", timeout=2)
                return self
            except OSError:
                assert self.process.poll() is None, "LiteLLM ended"
                time.sleep(0.2)
        raise AssertionError("LiteLLM did not start")

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=30)
        self.log.close()


def chat(address, key, model):
    body = json.dumps({"model": model, "messages": [{"role": "user", "content": "Say hello."}]}).encode()
    request = urllib.request.Request(f"{address}/v1/chat/completions", body, {"Authorization": f"Bearer {key}", "Content-Type": "application/json"})
    return json.load(urllib.request.urlopen(request, timeout=60))["choices"][0]["message"]["content"]


def litellm_in_front(page, code):
    with LiteLlm(page, page.filled(code[1])) as proxy:
        assert ANSWER in chat(f"http://127.0.0.1:{proxy.port}", LITELLM_KEY, "gpt-4o")


def litellm_behind(page, code):
    settings = "model_list:\n  - model_name: litellm-test\n    litellm_params: {model: openai/x, api_key: none, mock_response: Hello from LiteLLM}\n"
    with LiteLlm(page, settings) as proxy:
        page.sh(code[1].replace("http://127.0.0.1:4000", f"http://127.0.0.1:{proxy.port}"))
        assert chat(page.address, page.key, "litellm-test") == "Hello from LiteLLM"


def open_webui(page, code):
    """Its server finds the models by itself and answers through the gateway, signed in as its first user."""
    port = free_port()
    data = page.home / "open-webui"
    more = {"PORT": str(port), "DATA_DIR": str(data), "WEBUI_SECRET_KEY": "invented", "OFFLINE_MODE": "true", "HF_HUB_OFFLINE": "1", "BYPASS_MODEL_ACCESS_CONTROL": "true"}
    log = open(page.home / "open-webui.log", "w+")
    server = subprocess.Popen(["bash", "-euc", page.filled(code[1]).replace("open-webui serve", f"exec open-webui serve --host 127.0.0.1 --port {port}")], cwd=page.home, env={**page.environment(), **more}, stdout=log, stderr=log)
    address = f"http://127.0.0.1:{port}"

    def call(path, body=None, token=None):
        headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {token}"} if token else {})}
        request = urllib.request.Request(address + path, json.dumps(body).encode() if body else None, headers)
        return json.load(urllib.request.urlopen(request, timeout=60))

    try:
        for _ in range(300):
            try:
                call("/health")
                break
            except OSError:
                assert server.poll() is None, "Open WebUI ended"
                time.sleep(1)
        token = call("/api/v1/auths/signup", {"name": "Sam", "email": "sam@clinic.example", "password": "an invented password"})["token"]
        models = [model["id"] for model in call("/api/models", token=token)["data"]]
        assert "gpt-4o" in models, models
        answer = call("/api/chat/completions", {"model": "gpt-4o", "messages": [{"role": "user", "content": "Say hello."}]}, token)
        assert ANSWER in answer["choices"][0]["message"]["content"], answer
    finally:
        server.terminate()
        server.wait(timeout=60)
        log.close()


# Runners of special blocks, by section and by the block's position in it.
RUNS = {
    ("OpenAI SDKs", 3): variables,
    ("Claude Code", 0): piped,
    ("Codex", 0): codex_settings,
    ("Codex", 1): codex,
    ("LiteLLM", 0): litellm_in_front,
    ("LiteLLM", 1): litellm_behind,
    ("Open WebUI", 0): open_webui,
}
LANGUAGES = {"python", "js", "sh"}


def tools(takes_all):
    """Returns the folders of the page's programs."""
    if not takes_all:
        return [WORK / "venv" / "bin", WORK / "node_modules" / ".bin"]
    work = WORK / "all"
    return [work / "venv" / "bin", work / "node_modules" / ".bin", work / "litellm" / "bin", work / "open-webui" / "bin"]


def main():
    takes_all = "--all" in sys.argv[1:]
    wanted = [word for word in sys.argv[1:] if not word.startswith("--")]
    page_blocks = blocks()
    assert len(page_blocks) >= 22, "the page has lost its blocks"
    passed, failed, left_out, places = 0, [], [], {}
    with tempfile.TemporaryDirectory(prefix="phigate-page-") as folder:
        demo = Demo(folder)
        try:
            page = Page(demo, folder, tools(takes_all))
            for section, language, code in page_blocks:
                place = places[section] = places.get(section, -1) + 1
                name = f"{section}, block {place + 1}, {language}"
                if (section in LARGE) != takes_all or (wanted and section not in wanted):
                    continue
                if section == "Open WebUI" and not shutil.which("open-webui", path=page.environment()["PATH"]):
                    left_out.append(f"{name}: it is not installed, see tests/clients/all.sh")
                    continue
                run = RUNS.get((section, place), asked if language in LANGUAGES else None)
                started = time.monotonic()
                try:
                    assert run, "nothing runs this block"
                    run(page, (language, code))
                    passed += 1
                    print(f"ok   {name} ({time.monotonic() - started:.1f} s)", flush=True)
                except Exception as reason:  # noqa: BLE001: any failure is the block's result
                    failed.append(f"{name}: {type(reason).__name__}: {reason}")
                    print(f"FAIL {name}", flush=True)
        finally:
            demo.stop()
    for line in failed + left_out:
        print(line)
    print(f"{passed} blocks of docs/clients.md run, {len(failed)} failed, {len(left_out)} left out")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
