"""Tests of the check. Run: python3 -m unittest discover -s tests/supply"""

import unittest

import check

ALLOWED = {"MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "Unicode-3.0"}


def package(name, version="1.0.0", licence="MIT", source=check.CRATES_IO, dependencies=()):
    return {"name": name, "version": version, "license": licence, "source": source, "dependencies": list(dependencies)}


class Licences(unittest.TestCase):
    def test_expressions(self):
        for expression, fine in [
            ("MIT", True),
            ("MIT OR Apache-2.0", True),
            ("MIT/Apache-2.0", True),
            ("GPL-3.0 OR MIT", True),
            ("GPL-3.0 AND MIT", False),
            ("(MIT OR Apache-2.0) AND Unicode-3.0", True),
            ("(MIT OR GPL-3.0) AND GPL-2.0", False),
            ("Apache-2.0 WITH LLVM-exception", True),
            ("GPL-2.0 WITH Classpath-exception-2.0", False),
            ("", False),
            (None, False),
        ]:
            self.assertEqual(check.licence_is_fine(expression, ALLOWED), fine, expression)

    def test_exceptions_are_for_one_crate(self):
        packages = {"a": package("a", licence="MPL-2.0"), "b": package("b", licence="MPL-2.0")}
        rules = {"allow": ["MIT"], "exceptions": [{"crate": "a", "allow": ["MPL-2.0"]}]}
        self.assertEqual(len(list(check.licence_faults(packages, rules))), 1)


class Tree(unittest.TestCase):
    def test_edges_follow_from_depths(self):
        text = "0a v1.0.0 (/here)\n1b v2.0.0\n2c v3.0.0 (*)\n1d v4.0.0 (proc-macro)\n\n0e v1.0.0"
        a, b, c, d = ("a", "1.0.0"), ("b", "2.0.0"), ("c", "3.0.0"), ("d", "4.0.0")
        self.assertEqual(check.tree(text), {(None, a), (a, b), (b, c), (a, d), (None, ("e", "1.0.0"))})

    def test_duplicates(self):
        packages = {"1": package("a"), "2": package("a", "2.0.0"), "3": package("b")}
        self.assertEqual(len(list(check.duplicate_faults(packages, {}))), 1)
        self.assertEqual(list(check.duplicate_faults(packages, {"skip": [{"crate": "a"}]})), [])
        self.assertEqual(len(list(check.duplicate_faults(packages, {"skip": [{"crate": "a"}, {"crate": "b"}]}))), 1)

    def test_directions(self):
        packages = {"1": package("store"), "2": package("edge"), "3": package("gateway")}
        parents = {"1": {"3"}}
        rules = {"deny": [{"crate": "store", "wrappers": ["gateway"]}]}
        self.assertEqual(list(check.direction_faults(packages, parents, rules)), [])
        parents["1"].add("2")
        self.assertEqual(len(list(check.direction_faults(packages, parents, rules))), 1)
        self.assertEqual(len(list(check.direction_faults(packages, {}, {"deny": [{"crate": "edge"}]}))), 1)

    def test_sources_and_wildcards(self):
        packages = {"1": package("a", source="git+https://example.org/a"), "2": package("b")}
        lock = {"package": [{"name": "b", "version": "1.0.0", "checksum": "00"}]}
        self.assertEqual(len(list(check.source_faults(packages, lock))), 1)
        self.assertEqual(len(list(check.source_faults({"2": package("b")}, {"package": []}))), 1)
        own = package("own", source=None, dependencies=[{"name": "b", "req": "*"}])
        self.assertEqual(len(list(check.wildcard_faults({"1": own}))), 1)


if __name__ == "__main__":
    unittest.main()
