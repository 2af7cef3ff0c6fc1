"""Collects the texts with the labels of all kinds that the reader learns from, and those that it is judged by.

    python3 gather.py work
"""

import gzip
import json
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))

import marked

MODEL = pathlib.Path(__file__).resolve().parent.parent
JUDGED = {"earlier": "kept/earlier", "strangers": "kept/strangers", "whole": "kept/whole", "fresh": "kept/fresh"}


def main():
    work = pathlib.Path(sys.argv[1])
    learned = [(text, spans) for _, text, spans in marked.documents(MODEL / "written/whole")]
    with gzip.open(work / "whole.json.gz", "wt") as file:
        json.dump(learned, file, ensure_ascii=False)
    for name, folder in JUDGED.items():
        with open(work / f"judged_{name}.jsonl", "w") as file:
            for _, text, spans in marked.documents(MODEL / folder):
                labels = [{"start": start, "end": end, "type": kind} for start, end, kind in spans]
                file.write(json.dumps({"text": text, "spans": labels}, ensure_ascii=False) + "\n")
    print(len(learned), "documents to learn from")


if __name__ == "__main__":
    main()
