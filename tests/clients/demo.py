"""A gateway with simulated providers, for the tests of clients."""

import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORK = ROOT / "target" / "clients"
BINARY = os.environ.get("PHIGATE", str(ROOT / "target" / "debug" / "phigate"))


class Demo:
    """A gateway with simulated providers in a temporary folder."""

    def __init__(self, folder):
        self.options = ["--data", f"{folder}/data", "--master-key-file", f"{folder}/data.key"]
        self.log = open(f"{folder}/log", "w+")
        # The environment of the test run must not reach the gateway.
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("PHIGATE_")}
        command = [BINARY, "demo", *self.options, "--listen", "127.0.0.1:0", "--metrics-listen", "off"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.log, text=True, env=self.environment)
        line = self.process.stdout.readline()
        found = re.match(r"listening on (http://\S+)", line)
        if not found:
            self.log.seek(0)
            sys.exit(f"phigate demo did not start: {line}{self.log.read()[-2000:]}")
        self.base_url = found.group(1) + "/v1"

    def command(self, *words):
        done = subprocess.run([BINARY, *self.options, *words], capture_output=True, text=True, env=self.environment, check=True)
        return done.stdout.strip()

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=60)
        self.log.close()
