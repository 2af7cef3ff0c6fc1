"""Kinds that the reader tells apart, and how the labels of each source map to them.

A token's target is a set of allowed classes, not one class: a source that leaves a kind unlabelled allows
that kind wherever it says nothing, so that the reader is never taught that an unlabelled value is nothing.
"""

KINDS = ["SSN", "DOB", "PHONE", "EMAIL", "ADDRESS", "MRN", "NAME", "MEDICARE_ID", "HEALTH_PLAN_ID", "NPI", "DATE", "AGE",
         "PLACE", "FACILITY", "RECORD_ID", "ACCOUNT", "LICENSE", "VEHICLE", "DEVICE", "URL", "IP", "USERNAME"]
CORE = KINDS[:8]
NUMBERS = ["HEALTH_PLAN_ID", "NPI", "RECORD_ID", "ACCOUNT", "LICENSE", "VEHICLE", "DEVICE"]
# Class 0 is nothing; then "begins" and "goes on" for each kind.
CLASSES = 1 + 2 * len(KINDS)

# Older labels and the kinds that each may mean.
MEANINGS = {kind: [kind] for kind in KINDS} | {
    "LOCATION": ["PLACE"], "ORG": ["FACILITY"], "ID_OTHER": NUMBERS, "OTHER": ["USERNAME"], "CITY": ["PLACE"],
}
BEYOND = [kind for kind in KINDS if kind not in CORE]

# Kinds that a source leaves unlabelled; sources not listed label the eight of the specification and no more.
UNLABELLED = {
    "whole": [],
    "generated": ["DATE", "PLACE", "FACILITY", "AGE", "URL"] + NUMBERS,
    "structured": [kind for kind in KINDS if kind not in ("NAME", "ADDRESS", "DOB")],
    "casual": [kind for kind in KINDS if kind != "NAME"],
    "strings": [kind for kind in KINDS if kind not in ("NAME", "ADDRESS")],
    "spanish": ["PLACE", "FACILITY"] + NUMBERS + ["URL", "USERNAME", "DATE", "AGE"],
    "material": BEYOND, "languages": BEYOND, "noise": BEYOND, "planted": BEYOND + ["PHONE", "EMAIL", "MRN", "SSN"],
    "foreign": [kind for kind in KINDS if kind not in ("NAME", "ADDRESS", "DOB")],
}


class Targets:
    """The distinct sets of allowed classes, numbered; `table[number]` lists the classes."""

    def __init__(self):
        self.numbers, self.table = {}, []

    def number(self, classes):
        key = tuple(sorted(classes))
        if key not in self.numbers:
            self.numbers[key] = len(self.table)
            self.table.append(list(key))
        return self.numbers[key]

    def nothing(self, group):
        """The target of a token that no label covers."""
        free = UNLABELLED.get(group, BEYOND)
        return self.number([0] + [1 + 2 * KINDS.index(kind) + part for kind in free for part in (0, 1)])

    def labelled(self, kind, begins):
        """The target of a token of a labelled value."""
        return self.number([1 + 2 * KINDS.index(one) + (0 if begins else 1) for one in MEANINGS[kind]])


def all_targets():
    """The same numbering in every process."""
    targets = Targets()
    for group in ["whole", "plain"] + sorted(UNLABELLED):
        targets.nothing(group)
    for kind in sorted(MEANINGS):
        targets.labelled(kind, True)
        targets.labelled(kind, False)
    return targets
