"""philter-lite: removes every word not known to be harmless.

It has no types. Here its dates count as DATE, words with a digit as ID_OTHER, with an @ as EMAIL, and all
others as NAME, neighbours joined.
"""

import os
import re

import philter_lite

from lines import serve

folder = os.path.dirname(philter_lite.__file__)
filters = philter_lite.load_filters(os.path.join(folder, "configs", "philter_delta.toml"))


def detect(text):
    kept, _, tracker = philter_lite.detect_phi(text, filters)
    dates = [(entry.start, entry.stop) for entry in tracker.phi if entry.phi_type == "DATE"]
    removed = list(text)
    for start, stop in kept.filecoords():
        removed[start:stop] = " " * (stop - start)
    spans = []
    for word in re.finditer(r"\w(?:\S*\w)?", "".join(removed)):
        kind = kind_of(word, dates)
        if spans and kind == spans[-1][2] == "NAME" and text[spans[-1][1] : word.start()] == " ":
            spans[-1] = (spans[-1][0], word.end(), kind)
        else:
            spans.append((word.start(), word.end(), kind))
    return spans


def kind_of(word, dates):
    if any(start <= word.start() < stop for start, stop in dates):
        return "DATE"
    if "@" in word.group():
        return "EMAIL"
    return "ID_OTHER" if re.search(r"\d", word.group()) else "NAME"


serve(detect, {})
