"""Starts `phigate demo` and runs every client against every family, mode by mode.

Each client is a program of its own. It gets the base URL, a key, a model and the mode in force, and prints one JSON line
a test: {"test": name, "ok": true or false, "detail": text}.
"""

import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

from demo import BINARY, ROOT, WORK, Demo

CLIENTS = {
    "openai-python": [sys.executable, str(ROOT / "tests/clients/openai_python.py")],
    "langchain": [sys.executable, str(ROOT / "tests/clients/langchain_python.py")],
    "openai-node": ["node", str(WORK / "openai_node.mjs")],
    "ai-sdk": ["node", str(WORK / "ai_sdk.mjs")],
}
MODELS = ["gpt-4o", "claude-opus-4-5", "gemini-2.5-flash"]
MODES = ["flag", "mask", "block"]


def run_agent():
    """Returns the results of the agents, which start their own provider and gateway."""
    done = subprocess.run([sys.executable, str(ROOT / "tests/clients/agent.py"), BINARY, str(WORK / "agent.mjs")], capture_output=True, text=True, timeout=180)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")], done.stderr[-1500:]


def run_client(name, demo, key, model, mode):
    """Returns the results of one client, and its other output."""
    command = [*CLIENTS[name], demo.base_url, key, model, mode]
    quiet = {name: value for name, value in os.environ.items() if not name.startswith(("OPENAI_", "LANGCHAIN_", "LANGSMITH_"))}
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=180, env=quiet)
    except subprocess.TimeoutExpired:
        return [], "did not finish within 180 s"
    results = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return results, done.stderr[-1500:]


def main():
    wanted = sys.argv[1:]
    passed, failed = 0, []
    with tempfile.TemporaryDirectory(prefix="phigate-clients-") as folder:
        demo = Demo(folder)
        try:
            for mode in MODES:
                demo.command("mode", "set", mode, "--reason", "a test of clients")
                plan = [(name, model) for model in MODELS for name in CLIENTS]
                plan = [pair for pair in plan if not wanted or any(word in f"{' '.join(pair)} {mode}" for word in wanted)]
                # The mode is the account's, so only clients of the same mode run in parallel.
                with ThreadPoolExecutor(max_workers=3) as workers:
                    done = workers.map(lambda pair: run_client(pair[0], demo, demo.command("key", "create"), pair[1], mode), plan)
                    for (name, model), (results, noise) in zip(plan, done):
                        bad = [result for result in results if not result["ok"]]
                        passed += len(results) - len(bad)
                        failed += [f"{name}, {model}, {mode}: {result['test']}: {result['detail']}" for result in bad]
                        if not results:
                            failed.append(f"{name}, {model}, {mode}: no results: {noise}")
                        print(f"{'FAIL' if bad or not results else 'ok':4} {name:14} {model:17} {mode:5} {len(results)} tests", flush=True)
        finally:
            demo.stop()
    if not wanted or "agent" in wanted:
        results, noise = run_agent()
        bad = [result for result in results if not result["ok"]]
        passed += len(results) - len(bad)
        failed += [f"agent: {result['test']}: {result['detail']}" for result in bad] or ([] if results else [f"agent: no results: {noise}"])
        print(f"{'FAIL' if bad or not results else 'ok':4} agents         {len(results)} tests", flush=True)
    for line in failed:
        print(line)
    print(f"{passed} passed, {len(failed)} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
