#!/usr/bin/env python3
"""Writes the contents of the binary as a CycloneDX 1.5 bill of materials: tests/supply/sbom.py [FILE]

Everything that phigate depends on when built or run, with versions, licences, checksums of the sources and who needs
whom. The same commit gives the same file, byte for byte.
"""

import hashlib
import json
import subprocess
import sys
import tomllib
import uuid
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TARGET = "x86_64-unknown-linux-gnu"


def read(*command):
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


def reachable(nodes, root):
    """Returns the packages that a build of the root needs, without those of tests."""
    found, waiting, edges = set(), [root], {}
    while waiting:
        here = waiting.pop()
        if here in found:
            continue
        found.add(here)
        needed = [
            dependency["pkg"]
            for dependency in nodes[here]["deps"]
            if any(kind["kind"] in (None, "build") for kind in dependency["dep_kinds"])
        ]
        edges[here] = sorted(set(needed))
        waiting.extend(needed)
    return found, edges


def purl(package):
    return f"pkg:cargo/{package['name']}@{package['version']}"


def component(package, checksums):
    row = {
        "type": "library",
        "bom-ref": purl(package),
        "name": package["name"],
        "version": package["version"],
        "purl": purl(package),
        "scope": "required",
    }
    if package["license"]:
        row["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
    checksum = checksums.get((package["name"], package["version"]))
    if checksum:
        row["hashes"] = [{"alg": "SHA-256", "content": checksum}]
    if package["repository"]:
        row["externalReferences"] = [{"type": "vcs", "url": package["repository"]}]
    return row


def bill():
    meta = json.loads(read("cargo", "metadata", "--format-version=1", "--locked", "--filter-platform", TARGET))
    packages = {package["id"]: package for package in meta["packages"]}
    nodes = {node["id"]: node for node in meta["resolve"]["nodes"]}
    root = next(identity for identity, package in packages.items() if package["name"] == "phigate" and not package["source"])
    found, edges = reachable(nodes, root)
    lock = (ROOT / "Cargo.lock").read_bytes()
    checksums = {(row["name"], row["version"]): row.get("checksum") for row in tomllib.loads(lock.decode())["package"]}
    when = datetime.fromtimestamp(int(read("git", "log", "-1", "--format=%ct")), UTC)
    commit = read("git", "rev-parse", "HEAD").strip()
    others = sorted((packages[identity] for identity in found if identity != root), key=purl)
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, commit + hashlib.sha256(lock).hexdigest())}",
        "version": 1,
        "metadata": {
            "timestamp": when.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": {**component(packages[root], checksums), "type": "application"},
            "properties": [{"name": "commit", "value": commit}, {"name": "target", "value": TARGET}],
        },
        "components": [component(package, checksums) for package in others],
        "dependencies": [
            {"ref": purl(packages[here]), "dependsOn": [purl(packages[there]) for there in needed]}
            for here, needed in sorted(edges.items(), key=lambda edge: purl(packages[edge[0]]))
        ],
    }


def check(bom):
    """Checks the fields that readers of such a file rely on."""
    references = [bom["metadata"]["component"]["bom-ref"], *(row["bom-ref"] for row in bom["components"])]
    assert len(references) == len(set(references)), "a reference stands twice"
    for row in bom["dependencies"]:
        assert row["ref"] in references and set(row["dependsOn"]) <= set(references), row["ref"]
    for row in bom["components"]:
        assert row.get("licenses"), f"{row['name']} has no licence"


def main():
    bom = bill()
    check(bom)
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "target" / "phigate.cdx.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(bom, indent=1) + "\n")
    print(f"{path}: {len(bom['components'])} components")


if __name__ == "__main__":
    main()
