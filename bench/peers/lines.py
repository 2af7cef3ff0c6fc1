"""Shared by the Python adapters: JSON lines in, JSON lines out, a peer's type names mapped to ours."""

import json
import sys


def serve(detect, kinds):
    """Answers each line {"id", "text"} with {"id", "spans"}.

    `detect` gives (start, end, the peer's type) in code points. `kinds` maps the peer's types to ours; a type it
    does not know keeps its own name, so that it counts as covered text but as none of the eight kinds.
    """
    for line in sys.stdin:
        document = json.loads(line)
        try:
            found = list(detect(document["text"]))
        except Exception as error:  # A text that a peer cannot read counts as one without findings.
            print(f"{document['id']}: {type(error).__name__}", file=sys.stderr)
            found = []
        spans = [{"start": start, "end": end, "type": kinds.get(kind, str(kind).upper())} for start, end, kind in found]
        print(json.dumps({"id": document["id"], "spans": spans}), flush=True)


def from_bytes(text):
    """Returns a function from UTF-8 offsets to code points."""
    encoded = text.encode()
    return lambda offset: len(encoded[:offset].decode(errors="ignore"))
