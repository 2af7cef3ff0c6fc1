#!/usr/bin/env python3
"""Writes crates/phi-detect/src/words/code.txt: the words that identifiers of programs are made of.

Reads source files below the given folders, each holding one folder per package, takes apart the
identifiers of several words (`max_tokens`, `HttpClient`) and keeps the words that several packages
use. A word that is also a surname needs more packages, and given names are left out, so that
`maria_delgado` stays a person.

    python3 model/code_words.py CENSUS_LAST_NAMES.txt FOLDER... > crates/phi-detect/src/words/code.txt

The present list was made from the sources of the crates in Cargo.lock and the Python 3.11 library.
"""

import collections
import os
import re
import sys

IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]{3,63}")
WORD = re.compile(r"[A-Z]?[a-z]{3,}|[A-Z]{3,}(?![a-z])")
ENDINGS = (".rs", ".py", ".c", ".h", ".toml", ".js", ".ts", ".go", ".java")
FILES_MAX = 400
PACKAGES_MIN = 3
PACKAGES_MIN_FOR_SURNAMES = 6


def files_of(package):
    if os.path.isfile(package):
        yield package
    for folder, _, files in os.walk(package):
        for name in files:
            yield os.path.join(folder, name)


def words_of(path):
    with open(path, errors="ignore") as source:
        text = source.read(400_000)
    for identifier in set(IDENTIFIER.findall(text)):
        words = WORD.findall(identifier)
        if len(words) >= 2:
            yield from (word.lower() for word in words)


def main():
    with open(sys.argv[1], encoding="utf-8") as lines:
        surnames = {line.strip().lower() for line in lines}
    with open(os.path.join(os.path.dirname(__file__), "../crates/phi-detect/src/words/given.txt")) as lines:
        given = set(lines.read().split())
    packages = collections.defaultdict(set)
    for root in sys.argv[2:]:
        for entry in sorted(os.listdir(root)):
            name = re.sub(r"-\d.*", "", entry)
            sources = [path for path in files_of(os.path.join(root, entry)) if path.endswith(ENDINGS)]
            for path in sources[:FILES_MAX]:
                for word in words_of(path):
                    packages[word].add(name)
    least = lambda word: PACKAGES_MIN_FOR_SURNAMES if word in surnames else PACKAGES_MIN
    kept = sorted(
        word for word, users in packages.items()
        if len(word) <= 14 and word not in given and len(users) >= least(word)
    )
    sys.stdout.write("\n".join(kept) + "\n")


if __name__ == "__main__":
    main()
