#!/usr/bin/env python3
"""Changes one place at a time in the files that guard the promises, and looks whether a test notices.

Usage: tests/mutants/run.py [PART…] [--every N]

A copy of the sources gets all mutants at once (src/main.rs plants them) and is built once; the environment says which
one is alive. Each test is run once to see which mutants it reaches, and each mutant is then tried on the tests that
reach it, the quickest first, until one fails. `--every N` tries one in N. What survived, and what no test reached, is in
target/mutants/PART.txt.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WORK = ROOT / "target" / "mutants"
TREE = WORK / "tree"

# What is changed, and the tests that should notice: a crate and modules of its tests.
PARTS = {
    "json": (
        ["phigate-core/src/json/mod.rs", "phigate-core/src/json/read.rs", "phigate-core/src/json/string.rs"],
        ("phigate-core", {"json", "protect", "chat", "attacks"}),
    ),
    "protect": (
        [f"phigate-core/src/protect/{name}.rs" for name in ("apply", "joined", "located", "plain", "rewrite", "scan")]
        + ["phigate-core/src/egress.rs"],
        ("phigate-core", {"protect", "attacks", "doors", "service"}),
    ),
    "pipeline": (
        [f"phigate-gateway/src/{name}.rs" for name in ("pipeline", "record", "decision", "outcome")],
        ("phigate", {"chat_completions", "providers", "stopping", "hostile"}),
    ),
    "store": (
        ["phigate-store/src/chain.rs"]
        + [f"phigate-store/src/writer/{name}.rs" for name in ("batch", "group", "job", "join", "lane", "mod", "queue", "recover", "retry")],
        ("phigate-store", {"contract", "tamper"}),
    ),
    "verify": (
        [f"phigate-verify/src/{name}.rs" for name in ("chain", "checkpoint", "deletions", "export", "follow")],
        ("phigate-store", {"contract", "tamper"}),
    ),
}
# Tests that take this long prove nothing that quicker ones do not.
SLOW = 8


def run(*command, **more):
    return subprocess.run(command, check=True, text=True, **more)


def copy_tree():
    """The sources as they stand, with changes that are not committed."""
    run("rm", "-rf", str(TREE))
    names = run("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", cwd=ROOT, stdout=subprocess.PIPE)
    for name in filter(None, names.stdout.split("\0")):
        if (ROOT / name).is_file():
            (TREE / name).parent.mkdir(parents=True, exist_ok=True)
            (TREE / name).write_bytes((ROOT / name).read_bytes())


def plant(files):
    planter = ["cargo", "run", "--quiet", "--manifest-path", str(ROOT / "tests/mutants/Cargo.toml")]
    environment = os.environ | {"CARGO_TARGET_DIR": str(WORK / "planter")}
    out = run(*planter, "--", *(f"crates/{name}" for name in files), cwd=TREE, env=environment, stdout=subprocess.PIPE)
    rows = (line.split("\t", 4) for line in out.stdout.splitlines())
    return {int(number): (file, line, function, change) for number, file, line, function, change in rows}


def tests(crate, modules):
    """Builds, and gives every test as (program, folder, name)."""
    environment = os.environ | {"CARGO_TARGET_DIR": os.environ.get("MUTANTS_TARGET", str(WORK / "target"))}
    command = ["cargo", "nextest", "list", "--message-format", "json", "--cargo-quiet", "-p", crate, "--test", "all"]
    listed = run(*command, cwd=TREE, env=environment, stdout=subprocess.PIPE).stdout
    for suite in json.loads(listed)["rust-suites"].values():
        for name, case in suite.get("testcases", {}).items():
            if name.split("::")[0] in modules and not case["ignored"]:
                yield suite["binary-path"], suite["cwd"], name


def try_test(test, seconds, **environment):
    """Whether it passes, and how long it took."""
    program, folder, name = test
    started = time.monotonic()
    process = subprocess.Popen(
        [program, "--exact", name],
        cwd=folder,
        env=os.environ | environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        passed = process.wait(seconds) == 0
    except subprocess.TimeoutExpired:
        passed = False
        os.killpg(process.pid, 9)
        process.wait()
    return passed, time.monotonic() - started


def trace(all_tests):
    """The tests that reach each mutant, the quickest first."""
    reached = {}
    for test in all_tests:
        log = WORK / "trace"
        log.unlink(missing_ok=True)
        passed, seconds = try_test(test, 60, MUTANT_TRACE=str(log))
        if not passed:
            print(f"left out, fails without a mutant: {test[2]}", file=sys.stderr)
        elif seconds < SLOW and log.exists():
            for number in set(log.read_text().split()):
                reached.setdefault(int(number), []).append((seconds, test))
    return {number: sorted(those) for number, those in reached.items()}


def try_part(part, every):
    files, where = PARTS[part]
    copy_tree()
    mutants = plant(files)
    reached = trace(list(tests(*where)))
    chosen = [number for number in mutants if number % every == 0]
    caught, lines = 0, []
    for number in chosen:
        those = reached.get(number, [])
        if any(not try_test(test, 20 + 10 * seconds, MUTANT=str(number))[0] for seconds, test in those):
            caught += 1
            continue
        file, line, function, change = mutants[number]
        what = "survived" if those else "not reached"
        lines.append(f"{what}: {file}:{line} {function}: {change}")
    (WORK / f"{part}.txt").write_text("".join(line + "\n" for line in sorted(lines)))
    survived = sum(line.startswith("survived") for line in lines)
    print(f"{part}: {len(mutants)} mutants, {len(chosen)} tried, {caught} caught, {survived} survived, "
          f"{len(lines) - survived} not reached by these tests", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--every", type=int, default=1)
    options = parser.parse_args()
    for part in options.parts or PARTS:
        try_part(part, options.every)


if __name__ == "__main__":
    main()
