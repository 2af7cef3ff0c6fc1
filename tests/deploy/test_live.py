"""A real Prometheus reads a gateway under requests: metrics arrive, every query of the dashboard works, an alert fires."""

import json
import os
import re
import socket
import subprocess
import tempfile
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

import yaml

from support import ROOT, metrics, program
from test_metrics import RULES, SUFFIXES, queries

BINARY = os.environ.get("PHIGATE", str(ROOT / "target/debug/phigate"))
# Metrics that appear only with an export, a certificate, an agreement or a provider that counts.
LATER = {"phigate_export_lag_records", "phigate_export_lag_seconds", "phigate_export_sent_total", "phigate_export_failures_total",
         "phigate_certificate_days_left", "phigate_agreement_days_left"}
CHAT = {"model": "gpt-4o", "messages": [{"role": "user", "content": "Patient John Smith, SSN 536-22-8741, has a cough"}]}


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def fetch(url: str, body: dict | None = None, key: str = "") -> tuple[int, str]:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json", "Authorization": f"Bearer {key}"})
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as answer:
        return answer.code, answer.read().decode()


class Live(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.processes = []
        cls.addClassCleanup(cls.stop)
        cls.metrics_url = f"http://127.0.0.1:{free_port()}/metrics"
        cls.start_gateway()
        cls.start_prometheus()

    @classmethod
    def stop(cls):
        for process in cls.processes:
            process.terminate()
        for process in cls.processes:
            process.wait(timeout=60)
            if process.stdout:
                process.stdout.close()
        cls.folder.cleanup()

    @classmethod
    def start(cls, *command: str, **options) -> subprocess.Popen:
        log = open(Path(cls.folder.name, "log"), "a")
        clean = {name: value for name, value in os.environ.items() if not name.startswith("PHIGATE")}
        process = subprocess.Popen(command, stderr=log, env=clean, **options)
        log.close()
        cls.processes.append(process)
        return process

    @classmethod
    def start_gateway(cls):
        place = ["--data", f"{cls.folder.name}/data", "--master-key-file", f"{cls.folder.name}/data.key"]
        address = cls.metrics_url.split("/")[2]
        gateway = cls.start(BINARY, "demo", *place, "--listen", "127.0.0.1:0", "--metrics-listen", address, stdout=subprocess.PIPE, text=True)
        cls.url = gateway.stdout.readline().removeprefix("listening on ").strip()
        made = subprocess.run([BINARY, *place, "key", "create", "--name", "load"], capture_output=True, text=True, check=True)
        cls.key = made.stdout.strip()

    @classmethod
    def start_prometheus(cls):
        settings = Path(cls.folder.name, "prometheus.yml")
        target = cls.metrics_url.split("/")[2]
        settings.write_text(yaml.safe_dump({
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
            "rule_files": [str(ROOT / RULES)],
            "scrape_configs": [{"job_name": "phigate", "static_configs": [{"targets": [target]}]}],
        }))
        cls.api = f"http://127.0.0.1:{free_port()}"
        cls.start(program("prometheus"), f"--config.file={settings}", f"--storage.tsdb.path={cls.folder.name}/series",
                  f"--web.listen-address={cls.api.removeprefix('http://')}", "--log.level=error", stdout=subprocess.DEVNULL)
        for _ in range(120):
            try:
                if fetch(f"{cls.api}/-/ready")[0] == 200:
                    return
            except OSError:
                pass
            time.sleep(0.5)
        raise AssertionError("Prometheus was not ready within 60 seconds")

    def wait_for(self, what, found):
        """Sends requests until something is found."""
        for _ in range(60):
            self.assertEqual(fetch(f"{self.url}/v1/chat/completions", CHAT, self.key)[0], 200)
            if result := found():
                return result
            time.sleep(0.5)
        self.fail(f"no {what} within 30 seconds")

    def query(self, expr: str) -> list:
        status, text = fetch(f"{self.api}/api/v1/query?" + urllib.parse.urlencode({"query": expr}))
        self.assertEqual(status, 200, f"{expr}: {text}")
        return json.loads(text)["data"]["result"]

    def test_documented_metrics_are_those_served(self):
        self.wait_for("samples", lambda: self.query("phigate_requests_total") and self.query("phigate_tokens_total"))
        page = fetch(self.metrics_url)[1]
        served = set(re.findall(r"^(phigate_\w+?)(?:_bucket|_sum|_count)?(?:\{| )", page, re.MULTILINE))
        self.assertEqual(served, set(metrics()) - LATER)
        for name, (kind, labels) in metrics().items():
            for suffix in SUFFIXES.get(kind, [""]):
                for found in self.query(name + suffix):
                    self.assertEqual(set(found["metric"]) - {"__name__", "instance", "job", "le"}, labels, name)

    def test_queries_of_dashboard_run(self):
        self.wait_for("samples", lambda: self.query("phigate_requests_total"))
        for expr in queries():
            with self.subTest(expr):
                self.query(expr)

    def test_alert_fires_in_flag_mode(self):
        def firing():
            alerts = json.loads(fetch(f"{self.api}/api/v1/alerts")[1])["data"]["alerts"]
            return [alert for alert in alerts if alert["labels"]["alertname"] == "PhigateForwardsPHI" and alert["state"] == "firing"]

        self.wait_for("alert", firing)


if __name__ == "__main__":
    unittest.main()
