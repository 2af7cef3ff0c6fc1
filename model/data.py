"""From documents to arrays: corpora with their split and renamed copies, generated documents, packing.

A document is (source, text, spans); spans are (start, end, type) in code points.
"""

import collections
import gzip
import hashlib
import json
import multiprocessing
import random
import re

import numpy as np

import features as F
import generate
import values as V

# Types a source leaves unlabelled: there "nothing" may be any of these.
UNLABELLED = {
    "wnut17": "DATE DOB ADDRESS", "btc": "DATE DOB ADDRESS", "wikigold": "DATE DOB ADDRESS", "uner_ewt": "DATE DOB ADDRESS",
    "aci_bench_names": "LOCATION ORG DATE DOB", "hl7v2_samples": "NAME ADDRESS DOB DATE LOCATION ORG", "usaddress": "NAME ORG LOCATION",
    "probablepeople": "ORG LOCATION", "pediatric_handoffs": "ADDRESS LOCATION ORG DATE", "synthea_fhir_patient": "ORG DATE LOCATION",
    "dev_synth": "LOCATION ORG DATE", "background": "LOCATION ORG DATE", "talk": "LOCATION ORG DATE", "presidio_synth_v2": "ORG LOCATION DATE DOB",
    "presidio_generated_large": "ORG LOCATION DATE DOB", "presidio_generated_small": "ORG LOCATION DATE DOB",
    "unseen": "LOCATION ORG DATE", "written": "LOCATION ORG DATE", "written_negative": "LOCATION ORG DATE",
}
NEGATIVE_UNLABELLED = "LOCATION ORG DATE"
# Sources whose documents are used only with their values replaced by ours (licence of the values).
REFILLED_ONLY = {"presidio_synth_v2", "presidio_generated_large"}
EVALUATION_ONLY = {"unseen", "uner_ewt", "neg_medication_qa", "presidio_generated_small"}
# One batch in how many tokens: group of a source, for sampling.
GROUPS = {"generated": 0.18, "background": 0.08, "renamed": 0.10, "real": 0.07, "negative": 0.10, "altered": 0.09,
          "written": 0.28, "written_negative": 0.10}
# How often a text of our own writing is used with other people in it.
WRITTEN_COPIES = 24


def load(path):
    with gzip.open(path, "rt") as file:
        return [(source, text, [tuple(span) for span in spans]) for source, text, spans in json.load(file)]


def is_evaluation(document):
    """A fifth of each corpus, by template: documents that differ only in values fall on the same side."""
    source, text, spans = document
    if source in EVALUATION_ONLY:
        return True
    if source.startswith("written"):
        return False  # measured on texts by other writers: `unseen`
    if source in ("usaddress", "probablepeople"):
        spans = []
    masked, place = "", 0
    for start, end, kind in sorted(spans):
        masked += text[place:start] + f"<{kind}>"
        place = end
    masked = (masked + text[place:])[:90]
    masked = re.sub(r"\d+", "0", masked) if spans else masked
    return int(hashlib.md5(masked.encode()).hexdigest()[:8], 16) % 5 == 0


def free_mask(source):
    kinds = UNLABELLED.get(source, NEGATIVE_UNLABELLED if source.startswith("neg_") else "")
    return sum(1 << F.TYPES.index(kind) for kind in kinds.split())


def group_of(source):
    if source in GROUPS:
        return source
    return "negative" if source.startswith("neg_") else "real"


def rename(document, r, names):
    """The document with other people in it, each the same wherever they occur, and other addresses."""
    source, text, spans = document
    given = names.given_set
    mapping, writer = {}, generate.Document(r, names)

    def other(token):
        low = token.lower()
        if low not in mapping:
            person = names.person(r)
            plain = person["first"] if low in given else person["last"]
            mapping[low] = r.choice("ABCDEFGHJKLMNPRSTW") if len(token) == 1 else plain
        new = mapping[low]
        return new.lower() if token.islower() else new.upper() if token.isupper() and len(token) > 1 else new

    place = 0
    for start, end, kind in sorted(spans):
        writer.add(text[place:start])
        value = text[start:end]
        if kind == "NAME":
            value = re.sub(r"[^\W\d_]+", lambda m: m.group() if m.group() in ("Jr", "Sr", "III", "II") else other(m.group()), value)
        elif kind == "ADDRESS" and len(value) > 8 and "^" not in value and r.random() < 0.8:
            value = writer.address(one_line="\n" not in value)
            value = value.lower() if text[start:end].islower() else value
        elif kind == "LOCATION" and r.random() < 0.5 and re.fullmatch(r"[A-Z][a-z]+(, [A-Z]{2})?", value):
            value = r.choice(names.cities) + value[len(value.split(",")[0]):]
        writer.add(value, kind)
        place = end
    writer.add(text[place:])
    return source, writer.text, writer.spans


def altered(text, r, names):
    """PHI-free text with some words changed for other ordinary words, words that are also names, drugs and acronyms."""
    def other(match):
        word, u = match.group(), r.random()
        if u > 0.14:
            return word
        if word.isupper():
            return V.acronym(r) if len(word) > 1 else word
        if len(word) < 4:
            return word
        if u < 0.002:
            return " ".join(V.acronym(r).upper())
        kind = r.random()
        new = r.choice(names.safe) if kind < 0.6 else r.choice(names.ambiguous) if kind < 0.8 else V.invented_drug(r).split(" ")[0].lower()
        return new.capitalize() if word[0].isupper() else V.acronym(r) if kind > 0.97 else new
    return re.sub(r"\b[A-Za-z]+\b", other, text)


# --- packing: words are interned per worker and merged afterwards


class Packer:
    def __init__(self):
        self.words, self.streams = {}, collections.defaultdict(lambda: [[], [], [], []])

    def add(self, group, text, spans, mask, gap=4):
        """Appends a document's tokens and then a gap: word, context, tag, unlabelled types."""
        token_spans, contexts = F.tokenize(text)
        if not token_spans:
            return
        words, shapes, tags, masks = self.streams[group]
        for start, end in token_spans:
            token = F.fold(text[start:end])
            words.append(self.words.setdefault(token, len(self.words) + 1))
        shapes += contexts
        tags += F.tags_of(token_spans, spans)
        masks += [mask] * len(token_spans)
        words += [0] * gap
        shapes += [0] * gap
        tags += [255] * gap
        masks += [0] * gap

    def result(self):
        return list(self.words), {
            group: (np.array(words, np.int32), np.array(shapes, np.uint8), np.array(tags, np.uint8), np.array(masks, np.uint8))
            for group, (words, shapes, tags, masks) in self.streams.items()
        }


STATE = {}


def start_worker(lists, documents, texts):
    STATE.update(names=generate.Names(lists, held_out=False), documents=documents, texts=texts)
    STATE["names"].given_set = {name.lower() for name in lists["given"] + lists["rare_given"]}


def work(job):
    kind, seed, count = job
    r, packer, names = random.Random(seed), Packer(), STATE["names"]
    if kind == "generate":
        for _ in range(count):
            register, text, spans = generate.make(r, names, STATE["texts"])
            group = "background" if register in ("background", "talk") else "generated"
            packer.add(group, text, spans, free_mask(register))
    else:
        for index in range(seed, len(STATE["documents"]), count):
            document = STATE["documents"][index]
            source, text, spans = document
            if source not in REFILLED_ONLY:
                packer.add(group_of(source), text, spans, free_mask(source))
            if source == "written_negative":
                for _ in range(3):
                    packer.add(source, altered(text, r, names), [], free_mask(source))
            elif source.startswith("neg_"):
                packer.add("altered", altered(text, r, names), [], free_mask(source))
            elif any(kind == "NAME" or kind == "ADDRESS" for _, _, kind in spans):
                is_written = source == "written"
                for _ in range(WRITTEN_COPIES if is_written else 2):
                    _, text, new_spans = rename(document, r, names)
                    packer.add("written" if is_written else "renamed", text, new_spans, free_mask(source))
    return packer.result()


def training_arrays(lists, documents, count, seed, workers):
    """All training tokens: the list of distinct words, and per group the merged streams."""
    texts = [text for source, text, _ in documents if source.startswith("neg_")]
    jobs = [("generate", seed * 1000 + part, count // 64) for part in range(64)] + [("corpora", part, 32) for part in range(32)]
    words, merged = {}, collections.defaultdict(list)
    with multiprocessing.Pool(workers, start_worker, (lists, documents, texts)) as pool:
        for local_words, streams in pool.imap(work, jobs):
            numbers = np.array([0] + [words.setdefault(word, len(words) + 1) for word in local_words], np.int32)
            for group, (ids, shapes, tags, masks) in streams.items():
                merged[group].append((numbers[ids], shapes, tags, masks))
    return list(words), {group: [np.concatenate(part) for part in zip(*parts)] for group, parts in merged.items()}
