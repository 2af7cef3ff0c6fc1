"""What runs phigate on one machine: the compose file, its proxy, the systemd unit."""

import re
import subprocess
import unittest

import yaml

from support import ROOT, program, read, run

COMPOSE = "deploy/compose.yaml"


def services() -> dict:
    return yaml.safe_load(read(COMPOSE))["services"]


class Compose(unittest.TestCase):
    def test_schema_accepts_compose_file(self):
        self.assertIn("ok", run(program("check-jsonschema"), "--builtin-schema", "vendor.compose-spec", COMPOSE))

    def test_gateways_are_unprivileged(self):
        gateway = services()["phigate"]
        self.assertEqual(gateway["deploy"]["replicas"], 2)
        self.assertEqual((gateway["read_only"], gateway["cap_drop"]), (True, ["ALL"]))
        for name, service in services().items():
            with self.subTest(name):
                self.assertEqual(service["security_opt"], ["no-new-privileges:true"])

    def test_only_proxy_publishes_a_port(self):
        published = {name: service["ports"] for name, service in services().items() if "ports" in service}
        self.assertEqual(published, {"proxy": ["127.0.0.1:8443:8443"]})
        self.assertEqual(services()["postgres"]["network_mode"], "none")

    def test_secrets_are_not_in_file(self):
        needed = set(re.findall(r"\$\{(\w+):\?", read(COMPOSE)))
        self.assertEqual(needed, {"POSTGRES_PASSWORD", "MASTER_KEY"})
        self.assertIn("/deploy/.env", read(".gitignore").splitlines())
        self.assertIn("deploy/.env", read(".dockerignore").splitlines())

    def test_named_volumes_and_networks_exist(self):
        file = yaml.safe_load(read(COMPOSE))
        for service in services().values():
            for volume in service.get("volumes", []):
                source = volume.split(":")[0]
                self.assertTrue((ROOT / "deploy" / source).exists() if source.startswith(".") else source in file["volumes"], source)
            self.assertLessEqual(set(service.get("networks", [])), set(file["networks"]))

    def test_trusted_proxies_are_network_of_proxy(self):
        subnet = yaml.safe_load(read(COMPOSE))["networks"]["front"]["ipam"]["config"][0]["subnet"]
        self.assertEqual(services()["phigate"]["environment"]["PHIGATE_TRUSTED_PROXIES"], subnet)


class Proxy(unittest.TestCase):
    def test_caddy_accepts_its_file(self):
        done = subprocess.run([program("caddy"), "validate", "--config", "deploy/Caddyfile", "--adapter", "caddyfile"], cwd=ROOT, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_proxy_waits_as_long_as_providers(self):
        request_s = int(re.search(r"^request_ms = (\d+)", read("phigate.example.toml"), re.MULTILINE)[1]) // 1000
        self.assertIn(f"response_header_timeout {request_s}s", read("deploy/Caddyfile"))


if __name__ == "__main__":
    unittest.main()
