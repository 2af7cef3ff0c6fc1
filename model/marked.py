"""Reads texts with marks: `Seen by [[NAME:Jane Roe]] in clinic`, documents separated by a line of four dashes.

    python3 marked.py unseen > unseen.jsonl      # for `phigate eval`
    python3 marked.py kept --all > kept.jsonl    # with the labels of all kinds, for `reader/fit.py`
"""

import json
import pathlib
import re
import sys

MARK = re.compile(r"\[\[([A-Z_]+):(.*?)\]\]", re.S)
# What the project's texts label completely; other marks (DATE, LOCATION, ORG) only help training.
COMPLETE = ["SSN", "DOB", "PHONE", "EMAIL", "ADDRESS", "MRN", "NAME", "MEDICARE_ID"]


def parse(marked):
    """(text, [(start, end, type)]) with offsets in code points."""
    text, spans, place = "", [], 0
    for mark in MARK.finditer(marked):
        text += marked[place:mark.start()]
        spans.append((len(text), len(text) + len(mark.group(2)), mark.group(1)))
        text += mark.group(2)
        place = mark.end()
    return text + marked[place:], spans


def split(path):
    """The documents of a file, with their marks."""
    return [part.strip("\n") for part in re.split(r"^----[ \t]*\n", path.read_text(), flags=re.M) if part.strip()]


def documents(folder):
    """(name of the file, text, spans) of every document under the folder."""
    for path in sorted(pathlib.Path(folder).rglob("*.txt")):
        for marked in split(path):
            yield path.stem, *parse(marked)


def main():
    for number, (name, text, spans) in enumerate(documents(sys.argv[1])):
        is_wanted = "--all" in sys.argv[2:]
        spans = [{"start": start, "end": end, "type": kind, "text": text[start:end]} for start, end, kind in spans if is_wanted or kind in COMPLETE]
        print(json.dumps({"id": f"{name}-{number}", "source": name, "types": COMPLETE, "text": text, "spans": spans}, ensure_ascii=False))


if __name__ == "__main__":
    main()
