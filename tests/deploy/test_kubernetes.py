"""The Helm chart and the plain manifests: Helm renders them, and Kubernetes' own schemas accept every object."""

import json
import os
import re
import tempfile
import unittest
from pathlib import Path

import jsonschema
import kubernetes_validate
import yaml

from support import ROOT, program, read, run

CHART = "deploy/chart"
MANIFESTS = "deploy/kubernetes/phigate.yaml"
REQUIRED = {
    "image": {"repository": "registry.clinic.example/phigate"},
    "database": {"existingSecret": "phigate-database"},
    "masterKey": {"existingSecret": "phigate-master-key"},
    "tls": {"existingSecret": "phigate-tls"},
    "networkPolicy": {"database": [{"ipBlock": {"cidr": "10.1.2.0/28"}}]},
}
EVERYTHING = {
    **REQUIRED,
    "image": {"repository": "registry.clinic.example/phigate", "digest": "sha256:" + "0" * 64},
    "database": {"existingSecret": "phigate-database", "caSecret": "phigate-database-ca"},
    "tls": {},
    "behindTlsProxy": True,
    "imagePullSecrets": [{"name": "registry"}],
    "extraEnv": [{"name": "PHIGATE_LIMITS_KEY_CONCURRENCY", "value": "128"}],
    "extraVolumes": [{"name": "ca", "configMap": {"name": "ca"}}],
    "extraVolumeMounts": [{"name": "ca", "mountPath": "/etc/phigate/ca", "readOnly": True}],
    "autoscaling": {"enabled": True},
    "service": {"annotations": {"example.org/a": "b"}},
    "ingress": {"enabled": True, "className": "nginx", "host": "gateway.clinic.example", "tlsSecret": "gateway", "annotations": {"a.example/b": "c"}},
    "serviceMonitor": {"enabled": True, "labels": {"release": "prometheus"}},
    "prometheusRule": {"enabled": True, "labels": {"release": "prometheus"}},
    "grafanaDashboard": {"enabled": True},
    "serviceAccount": {"annotations": {"a.example/b": "c"}},
    "podAnnotations": {"a.example/b": "c"},
    "podLabels": {"team": "care"},
    "nodeSelector": {"kubernetes.io/arch": "amd64"},
    "tolerations": [{"key": "phi", "operator": "Exists"}],
    "affinity": {"nodeAffinity": {}},
    "priorityClassName": "high",
}
# The oldest version that the chart allows, and the newest with schemas.
VERSIONS = ["1.30", kubernetes_validate.latest_version()]

TEXT = {"type": "string"}
LABELS = {"type": "object", "additionalProperties": TEXT}
# The fields of the Prometheus operator's kinds that the chart uses, as its API documents them: Kubernetes has no schemas of
# them. promtool checks the rules themselves.
OPERATOR = {
    "ServiceMonitor": {
        "selector": {"type": "object", "additionalProperties": False, "required": ["matchLabels"], "properties": {"matchLabels": LABELS}},
        "endpoints": {"type": "array", "minItems": 1, "items": {"type": "object", "additionalProperties": False, "properties": {"port": TEXT, "path": TEXT, "interval": {"type": "string", "pattern": "^[0-9]+s$"}}}},
    },
    "PrometheusRule": {
        "groups": {"type": "array", "minItems": 1, "items": {"type": "object", "additionalProperties": False, "required": ["name", "rules"], "properties": {"name": TEXT, "rules": {"type": "array", "items": {
            "type": "object", "additionalProperties": False, "required": ["alert", "expr"],
            "properties": {"alert": TEXT, "expr": TEXT, "for": TEXT, "labels": LABELS, "annotations": LABELS}}}}}},
    },
}


def helm(values: dict) -> str:
    """The chart, rendered with values."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "values.yaml")
        path.write_text(yaml.safe_dump(values))
        return run(program("helm"), "template", "phigate", CHART, "--namespace", "phigate", "--values", str(path))


def objects(text: str) -> list[dict]:
    return [item for item in yaml.safe_load_all(text) if item]


def of_kind(found: list[dict], kind: str) -> dict:
    return next(item for item in found if item["kind"] == kind)


def check(item: dict, version: str) -> None:
    """Fails unless an object has the form that Kubernetes, or the operator, expects."""
    if item["apiVersion"].startswith("monitoring.coreos.com/"):
        fields = OPERATOR[item["kind"]]
        jsonschema.validate(item["spec"], {"type": "object", "additionalProperties": False, "required": list(fields), "properties": fields})
    else:
        kubernetes_validate.validate(item, version, strict=True)


def plain_manifests() -> str:
    """The chart without the marks of Helm, as deploy/kubernetes holds it."""
    text = helm(yaml.safe_load(read("deploy/kubernetes/values.yaml")))
    text = re.sub(r"^\s+app.kubernetes.io/managed-by: .*\n", "", text, flags=re.MULTILINE)
    return "# Written by `make docs` from deploy/chart and values.yaml.\n" + text


class Chart(unittest.TestCase):
    def test_helm_lints_chart(self):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as values:
            yaml.safe_dump(REQUIRED, values)
            values.flush()
            self.assertIn("0 chart(s) failed", run(program("helm"), "lint", CHART, "--strict", "--values", values.name))

    def test_schemas_accept_every_object(self):
        for values in (REQUIRED, EVERYTHING):
            found = objects(helm(values))
            for version in VERSIONS:
                for item in found:
                    with self.subTest(f"{item['kind']} {version}"):
                        check(item, version)

    def test_everything_renders_every_template(self):
        kinds = {item["kind"] for item in objects(helm(EVERYTHING))}
        templates = "\n".join(path.read_text() for path in (ROOT / CHART / "templates").glob("*.yaml"))
        self.assertEqual(kinds, set(re.findall(r"^kind: (\w+)", templates, re.MULTILINE)))

    def test_missing_decisions_are_named(self):
        for name, words in [("image", "image.repository"), ("database", "database.existingSecret"), ("masterKey", "masterKey.existingSecret"),
                            ("tls", "behindTlsProxy"), ("networkPolicy", "networkPolicy.database")]:
            with self.subTest(name), self.assertRaisesRegex(AssertionError, re.escape(words)):
                helm({key: value for key, value in REQUIRED.items() if key != name})

    def test_misspelt_values_are_refused(self):
        for wrong in ({"replica": 3}, {"networkPolicy": {**REQUIRED["networkPolicy"], "egress": []}}, {"image": {"digest": "sha256:1"}}):
            with self.subTest(wrong), self.assertRaises(AssertionError):
                helm({**REQUIRED, **wrong})

    def test_versions_are_those_of_workspace(self):
        version = re.search(r'^version = "(.+)"', read("Cargo.toml"), re.MULTILINE)[1]
        chart = yaml.safe_load(read(f"{CHART}/Chart.yaml"))
        self.assertEqual((chart["version"], chart["appVersion"]), (version, version))

    def test_rules_and_dashboard_are_whole(self):
        found = objects(helm(EVERYTHING))
        self.assertEqual(of_kind(found, "PrometheusRule")["spec"], yaml.safe_load(read("deploy/prometheus/alerts.yml")))
        dashboard = next(item for item in found if item["metadata"]["name"] == "phigate-dashboard")
        self.assertEqual(json.loads(dashboard["data"]["phigate.json"]), json.loads(read("deploy/grafana/phigate.json")))


class Pods(unittest.TestCase):
    """What the pods of both renderings must and must not be allowed."""

    def setUp(self):
        self.found = [objects(helm(values)) for values in (REQUIRED, EVERYTHING)]
        self.pods = [of_kind(found, "Deployment")["spec"]["template"]["spec"] for found in self.found]

    def test_pods_meet_restricted_standard(self):
        for pod in self.pods:
            self.assertEqual((pod["securityContext"]["runAsNonRoot"], pod["securityContext"]["runAsUser"]), (True, 65532))
            self.assertEqual(pod["securityContext"]["seccompProfile"], {"type": "RuntimeDefault"})
            self.assertFalse({"hostNetwork", "hostPID", "hostIPC"} & set(pod))
            for container in pod["containers"]:
                self.assertEqual(container["securityContext"], {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}})
            self.assertFalse([volume for volume in pod["volumes"] if "hostPath" in volume])

    def test_pods_get_no_surprising_variables(self):
        for pod in self.pods:
            self.assertIs(pod["enableServiceLinks"], False)
            self.assertIs(pod["automountServiceAccountToken"], False)
            names = [variable["name"] for variable in pod["containers"][0]["env"]]
            self.assertEqual(len(names), len(set(names)))

    def test_secrets_come_from_existing_ones(self):
        for found, pod in zip(self.found, self.pods):
            self.assertNotIn("Secret", {item["kind"] for item in found})
            variables = {variable["name"]: variable for variable in pod["containers"][0]["env"]}
            for name in ("PHIGATE_DATABASE_URL", "MASTER_KEY"):
                self.assertIn("secretKeyRef", variables[name]["valueFrom"])
            self.assertEqual(variables["PHIGATE_MASTER_KEY_FILE"]["value"], "")

    def test_stop_leaves_time_to_drain(self):
        drain_s = int(re.search(r"^drain_ms = (\d+)", read("phigate.example.toml"), re.MULTILINE)[1]) / 1000
        for pod in self.pods:
            sleep_s = pod["containers"][0]["lifecycle"]["preStop"]["sleep"]["seconds"]
            self.assertGreaterEqual(pod["terminationGracePeriodSeconds"], sleep_s + drain_s + 10)

    def test_probes_speak_scheme_of_listener(self):
        for pod, scheme in zip(self.pods, ("HTTPS", "HTTP")):
            container = pod["containers"][0]
            for probe, path in [("startupProbe", "/healthz"), ("livenessProbe", "/healthz"), ("readinessProbe", "/readyz")]:
                self.assertEqual(container[probe]["httpGet"], {"path": path, "port": "api", "scheme": scheme})

    def test_settings_of_environment_exist(self):
        table = read("crates/phigate/src/config/env.rs")
        known = {"_".join(filter(None, row)).upper() for row in re.findall(r'^    \("(\w*)", "(\w+)", Kind', table, re.MULTILINE)}
        for pod in self.pods:
            for variable in pod["containers"][0]["env"]:
                name = variable["name"]
                if name.startswith("PHIGATE_") and name != "PHIGATE_CONFIG" and not name.startswith("PHIGATE_LIMITS_"):
                    self.assertIn(name.removeprefix("PHIGATE_"), known)


class Network(unittest.TestCase):
    def test_policy_denies_by_default(self):
        policy = of_kind(objects(helm(REQUIRED)), "NetworkPolicy")["spec"]
        self.assertEqual(policy["policyTypes"], ["Ingress", "Egress"])
        for rule in policy["ingress"]:
            self.assertTrue(rule["from"] and rule["ports"])
        for rule in policy["egress"]:
            self.assertTrue(rule["to"] and rule["ports"])

    def test_empty_peers_allow_nobody(self):
        nobody = {"callers": [], "prometheus": [], "dns": [], "providers": []}
        policy = of_kind(objects(helm({**REQUIRED, "networkPolicy": {**REQUIRED["networkPolicy"], **nobody}})), "NetworkPolicy")["spec"]
        self.assertFalse(policy["ingress"])
        self.assertEqual([rule["ports"][0]["port"] for rule in policy["egress"]], [5432])

    def test_policy_leaves_out_private_networks(self):
        policy = of_kind(objects(helm(REQUIRED)), "NetworkPolicy")["spec"]
        providers = next(rule for rule in policy["egress"] if rule["ports"] == [{"protocol": "TCP", "port": 443}])
        left_out = {network for peer in providers["to"] for network in peer["ipBlock"]["except"]}
        self.assertLessEqual({"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "fc00::/7"}, left_out)

    def test_metrics_are_not_beside_api(self):
        for item in objects(helm(EVERYTHING)):
            if item["kind"] == "Service":
                self.assertEqual(len(item["spec"]["ports"]), 1)


class Manifests(unittest.TestCase):
    def test_manifests_are_current(self):
        if os.environ.get("UPDATE_DOCS"):
            (ROOT / MANIFESTS).write_text(plain_manifests())
        self.assertEqual(read(MANIFESTS), plain_manifests(), "write them with: make docs")

    def test_schemas_accept_manifests(self):
        found = objects(read(MANIFESTS)) + objects(read("deploy/kubernetes/namespace.yaml"))
        self.assertGreaterEqual(len(found), 9)
        for item in found:
            with self.subTest(item["kind"]):
                check(item, VERSIONS[0])

    def test_kustomization_fits_manifests(self):
        kustomization = yaml.safe_load(read("deploy/kubernetes/kustomization.yaml"))
        found = [item for name in kustomization["resources"] for item in objects(read(f"deploy/kubernetes/{name}"))]
        image = of_kind(found, "Deployment")["spec"]["template"]["spec"]["containers"][0]["image"]
        self.assertEqual([f"{entry['name']}:{entry['newTag']}" for entry in kustomization["images"]], [image])
        (patch,) = kustomization["patches"]
        target = next(item for item in found if item["kind"] == patch["target"]["kind"] and item["metadata"]["name"] == patch["target"]["name"])
        for step in yaml.safe_load(patch["patch"]):
            place = target
            for part in step["path"].strip("/").split("/"):
                place = place[int(part)] if isinstance(place, list) else place[part]
            self.assertEqual(place, [{"ipBlock": {"cidr": "10.1.2.0/28"}}])


if __name__ == "__main__":
    unittest.main()
