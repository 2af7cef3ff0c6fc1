#!/usr/bin/env python3
"""Checks the dependencies against deny.toml without cargo-deny: licences, duplicates, who may depend on
whom, sources. Advisories are not checked here: their database must be fetched, and `cargo deny check advisories` does that.

Usage: tests/supply/check.py [--offline]
"""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CRATES_IO = "registry+https://github.com/rust-lang/crates.io-index"


def licence_is_fine(expression, allowed):
    """Returns whether the allowed licences satisfy an SPDX expression."""
    words = re.findall(r"\(|\)|[^\s()/]+|/", expression or "")
    position = 0

    def peek():
        return words[position] if position < len(words) else None

    def take():
        nonlocal position
        position += 1
        return words[position - 1]

    def alternatives():
        fine = together()
        while peek() in ("OR", "/"):
            take()
            fine = together() or fine
        return fine

    def together():
        fine = one()
        while peek() == "AND":
            take()
            fine = one() and fine
        return fine

    def one():
        if peek() == "(":
            take()
            fine = alternatives()
            if peek() != ")":
                raise ValueError(expression)
            take()
            return fine
        name = take()
        if peek() == "WITH":
            take()
            name = f"{name} WITH {take()}"
        return name in allowed

    if not words:
        return False
    fine = alternatives()
    if position != len(words):
        raise ValueError(expression)
    return fine


def licence_faults(packages, rules):
    excepted = {row["crate"]: set(row["allow"]) for row in rules.get("exceptions", [])}
    for package in packages.values():
        if package["source"] is None:
            continue  # our own
        allowed = set(rules["allow"]) | excepted.get(package["name"], set())
        if not licence_is_fine(package["license"], allowed):
            yield f"{package['name']} {package['version']}: licence {package['license']!r} is not allowed"


def duplicate_faults(packages, rules):
    skipped = {row["crate"] for row in rules.get("skip", [])}
    versions = {}
    for package in packages.values():
        versions.setdefault(package["name"], set()).add(package["version"])
    for name, found in sorted(versions.items()):
        if len(found) > 1 and name not in skipped:
            yield f"{name} is there in several versions: {', '.join(sorted(found))}"
    for name in sorted(skipped):
        if len(versions.get(name, ())) < 2:
            yield f"{name} is there once: remove it from skip in deny.toml"


def direction_faults(packages, parents, rules):
    by_name = {}
    for identity, package in packages.items():
        by_name.setdefault(package["name"], []).append(identity)
    for row in rules.get("deny", []):
        allowed = set(row.get("wrappers", []))
        for identity in by_name.get(row["crate"], []):
            if not allowed:
                yield f"{row['crate']} is banned and in the tree"
            for parent in parents.get(identity, ()):
                if allowed and packages[parent]["name"] not in allowed:
                    yield f"{packages[parent]['name']} may not depend on {row['crate']}"


def source_faults(packages, lock):
    checksums = {(row["name"], row["version"]): row.get("checksum") for row in lock["package"]}
    for package in packages.values():
        if package["source"] not in (None, CRATES_IO):
            yield f"{package['name']} comes from {package['source']}"
        elif package["source"] and not checksums.get((package["name"], package["version"])):
            yield f"{package['name']} {package['version']} has no checksum in Cargo.lock"


def wildcard_faults(packages):
    for package in packages.values():
        if package["source"] is None:
            for dependency in package["dependencies"]:
                if dependency["req"] == "*" and dependency.get("path") is None:
                    yield f"{package['name']} takes any version of {dependency['name']}"


def cargo(*words):
    return subprocess.run(["cargo", *words], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


def tree(text):
    """Returns the edges of a tree from `cargo tree --prefix depth`, as pairs of (name, version)."""
    edges, above = set(), []
    for line in filter(None, text.splitlines()):
        depth, name, version = re.match(r"(\d+)(\S+) v(\S+)", line).groups()
        del above[int(depth):]
        here = (name, version)
        edges.add((above[-1] if above else None, here))
        above.append(here)
    return edges


def graph(targets, more):
    """Returns every package that is built on any target, with its dependents. `cargo metadata` would also list packages
    that no used feature needs."""
    every = json.loads(cargo("metadata", "--format-version=1", "--locked", "--all-features", *more))["packages"]
    every = {(package["name"], package["version"]): package for package in every}
    packages, parents = {}, {}
    for target in targets:
        words = ["--workspace", "--locked", "--all-features", "--edges=normal,build,dev", "--prefix=depth", "--format={p}"]
        for parent, here in tree(cargo("tree", *words, f"--target={target}", *more)):
            packages[here] = every[here]
            if parent:
                parents.setdefault(here, set()).add(parent)
    return packages, parents


def main():
    rules = tomllib.loads((ROOT / "deny.toml").read_text())
    lock = tomllib.loads((ROOT / "Cargo.lock").read_text())
    packages, parents = graph(rules["graph"]["targets"], sys.argv[1:])
    faults = [
        *licence_faults(packages, rules["licenses"]),
        *duplicate_faults(packages, rules["bans"]),
        *direction_faults(packages, parents, rules["bans"]),
        *wildcard_faults(packages),
        *source_faults(packages, lock),
    ]
    for fault in faults:
        print(fault, file=sys.stderr)
    print(f"{len(packages)} packages: {len(faults)} against deny.toml; advisories are not checked here")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
