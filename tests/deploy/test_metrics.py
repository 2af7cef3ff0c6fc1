"""Alert rules and dashboard: promtool reads them, every rule fires once, and every metric and label exists."""

import json
import re
import tempfile
import unittest
from collections import Counter
from pathlib import Path

import yaml

from support import metrics, program, read, run, target_exists

RULES = "deploy/prometheus/alerts.yml"
TESTS = "tests/deploy/alerts.test.yml"
DASHBOARD = "deploy/grafana/phigate.json"
# Labels that Prometheus adds, and those of buckets.
ADDED = {"instance", "job", "le"}
SUFFIXES = {"histogram": ["_bucket", "_sum", "_count"]}


def rules() -> list[dict]:
    return [rule for group in yaml.safe_load(read(RULES))["groups"] for rule in group["rules"]]


def panels() -> list[dict]:
    return [panel for panel in json.loads(read(DASHBOARD))["panels"] if panel["type"] != "row"]


def queries() -> list[str]:
    """The expressions of the dashboard, with its variables replaced as Grafana does."""
    found = [target["expr"] for panel in panels() for target in panel["targets"]]
    return [expr.replace("$__rate_interval", "5m").replace("$instance", ".*").replace("$provider", ".*") for expr in found]


def series(expr: str) -> list[tuple[str, set[str]]]:
    """The metrics of an expression, each with the labels that its selector names."""
    found = re.findall(r"\b(phigate_\w+)(?:\{([^}]*)\})?", expr)
    return [(name, set(re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", selector))) for name, selector in found]


class Rules(unittest.TestCase):
    def test_promtool_accepts_rules(self):
        self.assertIn(f"{len(rules())} rules found", run(program("promtool"), "check", "rules", RULES))

    def test_rules_fire_and_stay_silent(self):
        self.assertIn("SUCCESS", run(program("promtool"), "test", "rules", TESTS))

    def test_every_rule_is_tried(self):
        tried = [case for test in yaml.safe_load(read(TESTS))["tests"] for case in test["alert_rule_test"]]
        fired = {case["alertname"] for case in tried if case["exp_alerts"]}
        silent = {case["alertname"] for case in tried if not case["exp_alerts"]}
        names = {rule["alert"] for rule in rules()}
        self.assertEqual((fired, silent), (names, names))

    def test_rules_say_what_to_do(self):
        for rule in rules():
            with self.subTest(rule["alert"]):
                self.assertEqual(set(rule["annotations"]), {"summary", "description", "runbook"})
                self.assertIn(rule["labels"]["severity"], {"critical", "warning", "info"})
                self.assertTrue(target_exists("README.md", rule["annotations"]["runbook"]))


    def test_rules_are_documented(self):
        rows = re.findall(r"^\| `(Phigate\w+)` \| (\w+) \|", read("docs/metrics.md"), re.MULTILINE)
        self.assertEqual(rows, [(rule["alert"], rule["labels"]["severity"]) for rule in rules()])


class Names(unittest.TestCase):
    def test_metrics_and_labels_are_documented(self):
        known = metrics()
        self.assertGreater(len(known), 15)
        bases = {name + suffix: name for name, (kind, _) in known.items() for suffix in SUFFIXES.get(kind, [""])}
        for expr in [rule["expr"] for rule in rules()] + queries():
            with self.subTest(expr):
                found = series(expr)
                self.assertTrue(found)
                grouped = {label for labels in re.findall(r"\bby \(([^)]*)\)", expr) for label in re.split(r",\s*", labels)}
                for name, labels in found:
                    self.assertIn(name, bases)
                    self.assertLessEqual(labels | grouped, known[bases[name]][1] | ADDED)

    def test_every_metric_is_on_dashboard(self):
        shown = {name for expr in queries() for name, _ in series(expr)}
        for name, (kind, _) in metrics().items():
            with self.subTest(name):
                self.assertTrue(shown & {name + suffix for suffix in SUFFIXES.get(kind, [""])})


class Dashboard(unittest.TestCase):
    def test_promtool_accepts_queries(self):
        recorded = [{"record": f"query:{number}", "expr": expr} for number, expr in enumerate(queries())]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "queries.yml")
            path.write_text(yaml.safe_dump({"groups": [{"name": "queries", "rules": recorded}]}))
            self.assertIn(f"{len(recorded)} rules found", run(program("promtool"), "check", "rules", str(path)))

    def test_panels_are_complete(self):
        for panel in panels():
            with self.subTest(panel["title"]):
                self.assertTrue(panel["description"])
                self.assertIn("unit", panel["fieldConfig"]["defaults"])
                for part in [panel, *panel["targets"]]:
                    self.assertEqual(part["datasource"], {"type": "prometheus", "uid": "${datasource}"})

    def test_panels_neither_overlap_nor_repeat(self):
        all_panels = json.loads(read(DASHBOARD))["panels"]
        for what in ("id", "title"):
            twice = [value for value, count in Counter(panel[what] for panel in all_panels).items() if count > 1]
            self.assertEqual(twice, [], what)
        cells = Counter()
        for panel in all_panels:
            place = panel["gridPos"]
            self.assertLessEqual(place["x"] + place["w"], 24)
            cells.update((x, y) for x in range(place["x"], place["x"] + place["w"]) for y in range(place["y"], place["y"] + place["h"]))
        self.assertEqual(max(cells.values()), 1)


if __name__ == "__main__":
    unittest.main()
