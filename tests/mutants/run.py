#!/usr/bin/env python3
"""Mutates the files behind the promises, one place at a time, and checks that a test fails.

Usage: tests/mutants/run.py [PART…] [--every N] [--most N] [--again] [--jobs N]

A copy of the sources gets all mutants at once (src/main.rs plants them) and is built once; an environment variable
selects the active one. Each test runs once to record the mutants it reaches. Then each mutant runs with the tests that
reach it until one fails or takes far too long: first the tests that caught most mutants, then the fastest. `--every N`
tries one mutant in N, `--most N` at most N tests per mutant. Results are appended to target/mutants/PART.tsv; `--again`
continues from there with the mutants that no test has caught. Mutants that no test can catch, or that are harmless,
are listed with the reason in explained.tsv beside this file: path, function, change (or `*` for the whole function),
reason.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WORK = ROOT / "target" / "mutants"
# The sources with all mutants, and the folder of their build, kept for incremental builds.
PLANTED, TREE = WORK / "planted", WORK / "tree"
EXPLAINED = Path(__file__).parent / "explained.tsv"

CORE_TESTS = {
    "attacks",
    "chat",
    "doors",
    "json",
    "leaving",
    "protect",
    "reply",
    "service",
    "wire_conversations",
    "wire_requests",
}
# Without its fault tests, which would leave frozen disks behind when killed.
STORE_TESTS = {"contract", "tamper", "attacks", "sealed", "moving"}
# Mutated files, and the test modules of crates that should catch the mutants.
PARTS = {
    "json": (
        ["phigate-core/src/json/mod.rs", "phigate-core/src/json/read.rs", "phigate-core/src/json/string.rs"],
        {"phigate-core": CORE_TESTS},
    ),
    "protect": (
        [f"phigate-core/src/protect/{name}.rs" for name in ("apply", "joined", "located", "plain", "rewrite", "scan")]
        + ["phigate-core/src/egress.rs"],
        {"phigate-core": CORE_TESTS},
    ),
    "pipeline": (
        [f"phigate-gateway/src/{name}.rs" for name in ("pipeline", "record", "decision", "outcome")],
        {
            "phigate": {"chat_completions", "doors", "hostile", "logs", "providers", "replies", "stopping"},
            "phigate-gateway": {"pipeline"},
        },
    ),
    "store": (
        ["phigate-store/src/chain.rs"]
        + [f"phigate-store/src/writer/{name}.rs" for name in ("batch", "group", "job", "join", "lane", "mod", "queue", "recover", "retry")],
        {"phigate-store": STORE_TESTS | {"chain", "writer"}},
    ),
    "verify": (
        [f"phigate-verify/src/{name}.rs" for name in ("chain", "checkpoint", "deletions", "export", "follow")],
        {"phigate-store": STORE_TESTS, "phigate-verify": {"chain", "deletions", "tests"}},
    ),
}
# Tests slower than this are skipped; faster ones prove the same.
SLOW = 20


def run(*command, **more):
    return subprocess.run(command, check=True, text=True, **more)


def sources():
    """Returns all file names, including uncommitted files."""
    names = run("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", cwd=ROOT, stdout=subprocess.PIPE)
    return [name for name in names.stdout.split("\0") if name and (ROOT / name).is_file()]


def write(path, data):
    """Writes a file unless it is unchanged, because cargo compares times."""
    if not path.is_file() or path.read_bytes() != data:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def plant():
    """Plants all mutants of all parts; returns path, line, function and change of each."""
    run("rm", "-rf", str(PLANTED))
    names = sources()
    for name in names:
        write(PLANTED / name, (ROOT / name).read_bytes())
    planter = ["cargo", "run", "--quiet", "--manifest-path", str(ROOT / "tests/mutants/Cargo.toml")]
    files = [f"crates/{name}" for files, *_ in PARTS.values() for name in files]
    environment = os.environ | {"CARGO_TARGET_DIR": str(WORK / "planter")}
    out = run(*planter, "--", *files, cwd=PLANTED, env=environment, stdout=subprocess.PIPE)
    for name in names:
        write(TREE / name, (PLANTED / name).read_bytes())
    for old in TREE.rglob("*.rs"):
        if not (PLANTED / old.relative_to(TREE)).exists():
            old.unlink()
    rows = (line.split("\t", 4) for line in out.stdout.splitlines())
    return {int(number): tuple(what) for number, *what in rows}


def tests(crates):
    """Builds the modules' tests; returns each as (program, folder, name)."""
    environment = os.environ | {"CARGO_TARGET_DIR": os.environ.get("MUTANTS_TARGET", str(WORK / "target"))}
    command = ["cargo", "nextest", "list", "--message-format", "json", "--cargo-quiet", "--test", "all"]
    command += [argument for crate in crates for argument in ("-p", crate)]
    if any((TREE / "crates" / crate / "src/lib.rs").is_file() for crate in crates):
        command.append("--lib")
    listed = run(*command, cwd=TREE, env=environment, stdout=subprocess.PIPE).stdout
    for suite in json.loads(listed)["rust-suites"].values():
        for name, case in suite.get("testcases", {}).items():
            is_chosen = name.split("::")[0] in crates[suite["package-name"]] and "postgres" not in name
            if is_chosen and not case["ignored"]:
                yield suite["binary-path"], suite["cwd"], name


def try_test(test, limit, **environment):
    """Runs a test; returns None or the reason of its failure, and the time it took."""
    program, folder, name = test
    own = tempfile.mkdtemp()
    os.chmod(own, 0o755)
    started = time.monotonic()
    process = subprocess.Popen(
        [program, "--exact", name],
        cwd=folder,
        env=os.environ | {"TMPDIR": own} | environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        failure = "failed" if process.wait(limit) else None
    except subprocess.TimeoutExpired:
        failure = "too slow"
        os.killpg(process.pid, 9)
        process.wait()
    # Killed tests leave their files behind.
    shutil.rmtree(own, ignore_errors=True)
    return failure, time.monotonic() - started


def trace(all_tests, pool):
    """Returns the tests that reach each mutant, the fastest first."""

    def look(test):
        with tempfile.NamedTemporaryFile("r") as log:
            failure, seconds = try_test(test, 60, MUTANT_TRACE=log.name)
            return test, failure, seconds, {int(number) for number in log.read().split()}

    reached = {}
    for test, failure, seconds, numbers in pool.map(look, all_tests):
        if failure or seconds > SLOW:
            print(f"left out, {failure or 'slow'} without a mutant: {test[2]}", file=sys.stderr)
            continue
        for number in numbers:
            reached.setdefault(number, []).append((seconds, test))
    return {number: sorted(those) for number, those in reached.items()}


def try_mutant(number, those, noticed, most):
    """Tries a mutant; returns the result."""
    for seconds, test in sorted(those, key=lambda one: (-noticed[one[1]], one))[:most]:
        failure, _ = try_test(test, 10 + 5 * seconds, MUTANT=str(number))
        if failure:
            noticed[test] += 1
            return failure
    return "survived" if those else "not reached"


def explanations():
    rows = [line.split("\t") for line in EXPLAINED.read_text().splitlines() if line and not line.startswith("#")]
    return {tuple(row[:3]) for row in rows}


def describe(mutants):
    """Identifies a mutant across changes of the sources, without its number."""
    names, seen = {}, Counter()
    for number, (path, line, function, change) in mutants.items():
        name = f"{path}:{line} {function}: {change}"
        seen[name] += 1
        names[number] = name + (f" ({seen[name]})" if seen[name] > 1 else "")
    return names


def try_part(part, mutants, options, pool):
    files, where = PARTS[part]
    names, notes = describe(mutants), WORK / f"{part}.tsv"
    chosen = [number for number, what in mutants.items() if what[0].removeprefix("crates/") in files][:: options.every]
    if not options.again:
        notes.write_text("")
    ends = dict(reversed(line.split("\t", 1)) for line in notes.read_text().splitlines())
    todo = [number for number in chosen if ends.get(names[number]) not in CAUGHT]
    reached, noticed = trace(list(tests(where)), pool), Counter()
    trials = pool.map(lambda number: try_mutant(number, reached.get(number, []), noticed, options.most), todo)
    with notes.open("a") as file:
        for number, end in zip(todo, trials):
            ends[names[number]] = end
            print(end, names[number], sep="\t", file=file, flush=True)
    explained, counts = explanations(), Counter()
    for number in chosen:
        end, (path, _, function, change) = ends[names[number]], mutants[number]
        is_explained = bool({(path, function, change), (path, function, "*")} & explained)
        counts["explained" if is_explained and end not in CAUGHT else end] += 1
        if not is_explained and end not in CAUGHT:
            print(f"{end}: {names[number]}")
    figures = ", ".join(f"{counts[end]} {name}" for end, name in ENDS.items())
    print(f"{part}: {len(chosen)} mutants: {figures}", flush=True)


CAUGHT = ("failed", "too slow")
ENDS = {
    "failed": "made a test fail",
    "too slow": "made one hang",
    "explained": "explained",
    "survived": "survived",
    "not reached": "not reached",
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--most", type=int)
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    mutants = plant()
    with ThreadPoolExecutor(options.jobs) as pool:
        for part in options.parts or PARTS:
            try_part(part, mutants, options, pool)


if __name__ == "__main__":
    main()
