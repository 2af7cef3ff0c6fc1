"""docs/assurance.md stays true: its tests, commands and links exist, and every answer has a proof."""

import re
import unittest

from support import ROOT, read, target_exists, without_blocks

PAGE = "docs/assurance.md"
CLI = "crates/phigate/src/cli"
# Words joined by two underscores or more are taken for the name of a test.
NAME = re.compile(r"[a-z]\w*_\w*_\w*")


def spans() -> list[str]:
    """The code spans of the page. The form of a test's name in its introduction is not a proof."""
    return [span for span in re.findall(r"`([^`\n]+)`", without_blocks(read(PAGE))) if "test_name" not in span]


def links(text: str) -> list[str]:
    """The links of a text that lead to the repository."""
    return [link for link in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in link]


def sources(*folders: str) -> str:
    """Every Rust and Python source below the folders."""
    paths = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.suffix in {".rs", ".py"}]
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted(paths))


def module(crate: str, path: str) -> str:
    """The text of a module of a crate, of its sources and of its tests if both have one."""
    stem = path.replace("::", "/")
    places = [f"crates/{crate}/{folder}/{stem}{end}" for folder in ("src", "tests") for end in (".rs", "/mod.rs")]
    return "\n".join(read(place) for place in places if (ROOT / place).is_file())


def is_test(span: str) -> bool:
    """Whether a test is in its file: `crate module::name`, `path/file.py::name`, or a name anywhere."""
    where, _, name = span.rpartition("::")
    if not where:
        return bool(re.search(rf"\b(?:fn|def) {name}\(", sources("crates", "fuzz", "tests")))
    if where.endswith(".py"):
        place = ROOT / where
        return place.is_file() and f"def {name}(" in read(where)
    crate, _, path = where.partition(" ")
    return f"fn {name}(" in module(crate, path)


def kebab(variant: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "-", variant).lower()


def variants(source: str) -> dict[str, str]:
    """The commands of the first enum that derives Subcommand, each with what it holds."""
    found = re.search(r"#\[derive\(Subcommand\)\]\n(?:pub\S* )?enum \w+ \{\n(.*?)^\}", source, re.MULTILINE | re.DOTALL)
    rows = re.findall(r"^    ([A-Z]\w*)(?:\((.*)\))?(?:,| \{)$", found[1], re.MULTILINE) if found else []
    return {kebab(name): held for name, held in rows}


def commands() -> dict[str, set[str]]:
    """Every command of phigate with its subcommands, as clap's enums in the sources name them."""
    found = {}
    for name, held in variants(read(f"{CLI}/mod.rs")).items():
        file = held.split("::")[0]
        places = [place for place in (f"{CLI}/{file}.rs", f"{CLI}/{file}/mod.rs") if (ROOT / place).is_file()]
        found[name] = set(variants(read(places[0]))) if places else set()
    return found


def is_command(span: str) -> bool:
    """Whether a command line names a command, its subcommand if it takes one, and options of the sources."""
    words = span.split()[1:]
    known = commands()
    if words[0] not in known:
        return False
    below = known[words[0]]
    if below and len(words) > 1 and not words[1].startswith("-") and words[1] not in below:
        return False
    fields = [word[2:].replace("-", "_") for word in words if word.startswith("--")]
    return all(re.search(rf"^\s+(?:pub\S* )?{field}: ", sources(CLI), re.MULTILINE) for field in fields)


def is_make_target(span: str) -> bool:
    return bool(re.search(rf"^{re.escape(span.split()[1])}:", read("Makefile"), re.MULTILINE))


def kind(span: str) -> str:
    """What a code span names: a test, a target of make, a command, or something else."""
    if "::" in span or NAME.fullmatch(span):
        return "test"
    return {"make ": "make", "phigate ": "command"}.get(span[: span.find(" ") + 1], "other")


EXISTS = {"test": is_test, "make": is_make_target, "command": is_command}


def named(what: str) -> list[str]:
    return sorted({span for span in spans() if kind(span) == what})


class Proofs(unittest.TestCase):
    def check(self, what: str, least: int):
        found = named(what)
        self.assertGreater(len(found), least)
        for span in found:
            with self.subTest(span):
                self.assertTrue(EXISTS[what](span), f"{span} does not exist")

    def test_named_tests_exist(self):
        self.check("test", 40)

    def test_make_targets_exist(self):
        self.check("make", 5)

    def test_commands_exist(self):
        self.check("command", 10)

    def test_links_resolve(self):
        found = links(read(PAGE))
        self.assertGreater(len(found), 10)
        for link in found:
            with self.subTest(link):
                self.assertTrue(target_exists(PAGE, link))

    def test_answer_without_proof_says_so(self):
        page = read(PAGE).split("## Not covered\n")[0]
        rows = [row.strip("| ").split(" | ") for row in page.splitlines() if row.startswith("| ")]
        self.assertGreater(len(rows), 60)
        for *answer, proof in rows:
            if proof == "Proof":
                continue
            with self.subTest(answer[0]):
                is_proven = links(proof) or any(kind(span) in EXISTS for span in re.findall(r"`([^`]+)`", proof))
                is_open = proof == "–" and (answer[1].startswith("Not covered") or answer[1:] == ["–", "all of it"])
                self.assertTrue(is_proven or is_open)

    def test_readme_links_page(self):
        self.assertIn(PAGE, links(read("README.md")))


class Checks(unittest.TestCase):
    """A check that accepts everything would prove nothing."""

    def test_commands_are_read_from_sources(self):
        known = commands()
        self.assertGreater(len(known), 20)
        self.assertLessEqual({"verify", "reveal", "public-key"}, known["audit"])
        self.assertLessEqual({"get", "set"}, known["mode"])
        self.assertEqual((known["scan"], known["master-key"]), (set(), {"rotate"}))

    def test_wrong_names_are_refused(self):
        wrong = [
            "phigate commands::no_such_test_exists",
            "phigate no_such_module::acts_record_person_and_machine",
            "phigate-store commands::acts_record_person_and_machine",
            "tests/deploy/test_metrics.py::test_no_such_test",
            "no_such_" + "test_exists",
            "make no-such-target",
            "phigate audit no-such-command",
            "phigate no-such-command",
            "phigate audit verify --no-such-option",
        ]
        for span in wrong:
            with self.subTest(span):
                self.assertFalse(EXISTS[kind(span)](span))


if __name__ == "__main__":
    unittest.main()
