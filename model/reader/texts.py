"""Documents for the reader: draws, renames, damages and cuts them.

A document is (group, text, spans). `Source(folder).draw(r)` gives one, each time with other people, numbers and damage;
`windows(r, …)` cuts it into what the reader sees at once.
"""

import collections
import gzip
import json
import pathlib
import random
import re
import sys

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))

import data
import generate
import marked
import noise
import plant

import kinds

# One document in how many comes from a group.
SHARES = {"whole": 0.24, "whole_negative": 0.13, "strangers": 0.20, "strangers_negative": 0.10, "written": 0.09, "written_negative": 0.05,
          "material": 0.08, "planted": 0.05, "languages": 0.03, "foreign": 0.03, "noise": 0.02, "generated": 0.05, "structured": 0.03, "real": 0.04,
          "casual": 0.03, "strings": 0.01, "spanish": 0.02, "negative": 0.06}
STRUCTURED = {"hl7", "fhir", "record", "table", "x12", "list"}
GROUP_OF = {"usaddress": "strings", "probablepeople": "strings", "hl7v2_samples": "structured", "synthea_fhir_patient": "structured",
            "meddocan_es": "spanish", "aci_bench_names": "casual"}
# Kinds whose figures are changed for others in a copy.
NUMBERS = {"SSN", "PHONE", "MRN", "MEDICARE_ID", "ID_OTHER"} | set(kinds.NUMBERS) - {"NPI"}
# What generated text calls its further values.
SLOTS = {"phone": "PHONE", "email": "EMAIL", "mrn": "MRN", "ssn": "SSN", "mbi": "MEDICARE_ID", "ip": "IP", "user": "USERNAME"}
SWAPS = {"o": "0", "O": "0", "0": "O", "l": "1", "I": "1", "1": "l", "S": "5", "5": "S", "B": "8", "8": "B", "e": "c", "m": "n", "g": "q", "Z": "2"}


class Labelled(generate.Document):
    """A generated document whose numbers are labelled too."""

    def fill(self, slot):
        kind = SLOTS.get(slot.rstrip("0123456789"))
        self.add(self.plain(slot.rstrip("0123456789")), kind) if kind else super().fill(slot)


generate.Document = Labelled


def without_state(text, spans):
    """Places end before the state."""
    for start, end, kind in spans:
        if kind == "LOCATION":
            match = re.search(r",? +[A-Z]{2}$|, [A-Z][a-z]+( [A-Z][a-z]+)?$", text[start:end])
            end = start + match.start() if match and match.start() else end
        yield start, end, kind


def group_of(source):
    """The group of a source of `prepare.py`, or None for one that is only measured on."""
    if source in data.EVALUATION_ONLY:
        return None
    if source in SHARES:
        return source
    if source in GROUP_OF:
        return GROUP_OF[source]
    return "casual" if source in data.CASUAL else "negative" if source.startswith("neg_") else "real"


def load(work):
    """{group: [(text, spans)]} of all documents to learn from."""
    documents = collections.defaultdict(list)
    for source, text, spans in data.load(work / "corpora.json.gz"):
        group = group_of(source)
        if group and not (data.is_evaluation((source, text, spans)) and not source.startswith(("written", "strangers"))):
            spans = [span for span in spans if span[2] in kinds.MEANINGS]
            documents[group].append((text, list(without_state(text, spans))))
    for text, spans in json.load(gzip.open(work / "whole.json.gz", "rt")):
        is_harmless = not any(span[2] in kinds.CORE for span in spans)
        documents["whole_negative" if is_harmless else "whole"].append((text, [tuple(span) for span in spans]))
    material, _ = data.load_material(work / "material.json.gz")
    documents["pieces"] = material
    return documents


def with_other_figures(text, spans, r):
    """Other figures in the numbers of a document; their form stays."""
    letters = list(text)
    for start, end, kind in spans:
        if kind in NUMBERS:
            for place in range(start, end):
                if letters[place] in "0123456789":
                    letters[place] = r.choice("0123456789")
    return "".join(letters)


def damaged(text, spans, r):
    """Reading errors, in values and between them."""
    letters, rate = list(text), r.choice([0.01, 0.03, 0.06])
    for place, letter in enumerate(letters):
        if letter in SWAPS and r.random() < rate:
            letters[place] = SWAPS[letter]
    return "".join(letters)


def data_marked(name):
    """The documents of a folder of our own texts."""
    return marked.documents(pathlib.Path(__file__).resolve().parent.parent / "written" / name)


class Source:
    """Draws documents without end."""

    def __init__(self, work, seed):
        lists = generate.load_lists(work / "lists.json.gz")
        self.documents = load(work)
        self.names = generate.Names(lists, held_out=False)
        self.names.given_set = {name.lower() for name in lists["given"] + lists["rare_given"]}
        self.texts = [text for text, _ in self.documents["negative"]]
        self.by_language = collections.defaultdict(list)
        for label, _, text in self.documents["pieces"]:
            if label.startswith("language:"):
                self.by_language[label.removeprefix("language:")].append(text)
        self.code = [piece for piece in self.documents["pieces"] if not piece[0].startswith("language:")]
        self.prose = [piece for piece in self.documents["pieces"] if piece[0].startswith("language:")]
        self.r = random.Random(seed)
        self.groups = [group for group in SHARES if self.documents[group] or group in ("material", "planted", "foreign", "noise", "generated", "structured", "languages")]
        self.languages = ["es"] * 8 + ["fr", "de", "pt"] * 2 + sorted(plant.LANGUAGES)

    def draw(self):
        r = self.r
        group = r.choices(self.groups, [SHARES[group] for group in self.groups])[0]
        text, spans = self.made(group) or self.kept(group)
        if r.random() < 0.5:
            text = with_other_figures(text, spans, r)
        u = r.random()
        if u < 0.05:
            text = damaged(text, spans, r)
        elif u < 0.12 and len(text.lower()) == len(text):
            text = text.lower()
        elif u < 0.16 and len(text.upper()) == len(text):
            text = text.upper()
        return group, text, spans

    def made(self, group):
        """A document that is made up."""
        r, names = self.r, self.names
        if group == "generated" or group == "structured" and (r.random() < 0.7 or not self.documents["structured"]):
            register = r.choice(sorted(STRUCTURED)) if group == "structured" else None
            while True:
                register, text, spans = generate.make(r, names, self.texts, register)
                if (register in STRUCTURED) == (group == "structured"):
                    return text, spans
                register = None
        if group == "noise":
            return noise.make(r, names), []
        if group == "foreign":
            language = r.choice(self.languages)
            document = plant.foreign(r, names, language, self.by_language.get(language))
            return document.text, document.spans
        if group == "languages":
            if not self.prose or r.random() < 0.2:
                return data.babble(r), []
            text = r.choice(self.prose)[2]
            return (data.unheard(text, r) if r.random() < 0.15 else text), []
        if group in ("material", "planted"):
            label, _, text = r.choice(self.code)
            if group == "material":
                return (noise.altered_code(text, r, names) if r.random() < 0.5 else text), []
            if r.random() < 0.15:
                document = plant.log_with_people(r, names)
            else:
                document = plant.plant(r, names, label, text)
            return document.text, document.spans
        return None

    def kept(self, group):
        """A document that was written or collected, mostly with other people in it."""
        r = self.r
        text, spans = r.choice(self.documents[group])
        if not any(span[2] in ("NAME", "ADDRESS") for span in spans):
            is_changed = group.endswith("negative") and not spans and r.random() < 0.5
            return (data.altered(text, r, self.names) if is_changed else text), spans
        if r.random() < 0.25:
            return text, spans
        _, text, spans = data.rename((group, text, spans), r, self.names)
        return text, spans


def encode(tokenizer, text):
    """(ids, offsets) of a text; the blank before a word is not part of its offsets."""
    told = tokenizer.encode(text, add_special_tokens=False)
    offsets = []
    for start, end in told.offsets:
        while start < end and text[start].isspace():
            start += 1
        offsets.append((start, end))
    return told.ids, offsets


def targets_of(offsets, spans, group, targets):
    """The number of the target of each piece."""
    nothing = targets.nothing("plain" if group not in kinds.UNLABELLED and not group.startswith("whole") else group.removesuffix("_negative"))
    numbers = np.full(len(offsets), nothing, np.uint8)
    spans, place = sorted(spans), 0
    for start, end, kind in spans:
        while place and offsets[place - 1][1] > start:
            place -= 1
        while place < len(offsets) and offsets[place][1] <= start:
            place += 1
        begins = True
        while place < len(offsets) and offsets[place][0] < end:
            if offsets[place][1] > offsets[place][0]:
                numbers[place] = targets.labelled(kind, begins)
                begins = False
            place += 1
    return numbers
