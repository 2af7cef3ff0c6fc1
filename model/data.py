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
import material
import noise
import plant
import values as V

# Types a source leaves unlabelled: there "nothing" may be any of these.
UNLABELLED = {
    "wnut17": "DATE DOB ADDRESS", "btc": "DATE DOB ADDRESS", "wikigold": "DATE DOB ADDRESS", "uner_ewt": "DATE DOB ADDRESS",
    "aci_bench_names": "LOCATION ORG DATE DOB", "hl7v2_samples": "NAME ADDRESS DOB DATE LOCATION ORG", "usaddress": "NAME ORG LOCATION",
    "probablepeople": "ORG LOCATION", "pediatric_handoffs": "ADDRESS LOCATION ORG DATE", "synthea_fhir_patient": "ORG DATE LOCATION",
    "dev_synth": "LOCATION ORG DATE", "background": "LOCATION ORG DATE", "talk": "LOCATION ORG DATE", "presidio_synth_v2": "ORG LOCATION DATE DOB",
    "presidio_generated_large": "ORG LOCATION DATE DOB", "presidio_generated_small": "ORG LOCATION DATE DOB",
    "meddocan_es": "ORG LOCATION", "material": "LOCATION ORG DATE", "languages": "LOCATION ORG DATE", "noise": "LOCATION ORG DATE", "planted": "LOCATION ORG DATE", "foreign": "LOCATION ORG DATE",
    "unseen": "LOCATION ORG DATE", "written": "LOCATION ORG DATE", "written_negative": "LOCATION ORG DATE",
    "strangers": "LOCATION ORG DATE", "strangers_negative": "LOCATION ORG DATE",
}
NEGATIVE_UNLABELLED = "LOCATION ORG DATE"
# Sources whose documents are used only with their values replaced by ours (licence of the values).
REFILLED_ONLY = {"presidio_synth_v2", "presidio_generated_large"}
EVALUATION_ONLY = {"unseen", "held_strangers", "held_kept", "uner_ewt", "neg_medication_qa", "presidio_generated_small"}
# One batch in how many tokens: group of a source, for sampling.
GROUPS = {"generated": 0.20, "background": 0.06, "renamed": 0.06, "real": 0.05, "casual": 0.07, "negative": 0.09, "altered": 0.08, "written": 0.24, "written_negative": 0.10,
          "strangers": 0.36, "strangers_negative": 0.18, "material": 0.26, "languages": 0.26, "noise": 0.08, "planted": 0.15, "foreign": 0.11, "spanish": 0.03}
# Groups that hold nobody.
HARMLESS = {"negative", "altered", "written_negative", "strangers_negative", "material", "languages", "noise"}
# Tweets, web pages and articles: names as people drop them, without titles or labels.
CASUAL = {"wnut17", "btc", "wikigold"}
# Groups that are not in English, or not all.
FOREIGN = {"languages", "foreign", "spanish"}
# Groups whose labels are right because the text was made from them: there nobody else's opinion is needed.
MADE = {"generated", "background", "planted", "foreign", "languages", "noise", "spanish"}
# Groups whose words are so many that they count less when known words are chosen.
WIDE = {"material": 0.3, "languages": 0.16, "noise": 0.4, "planted": 0.4, "foreign": 0.4}
# How often a text is used with other people in it, and in which group.
COPIES = {"written": (24, "written"), "strangers": (36, "strangers"), "spanish": (5, "spanish"), "casual": (4, "casual")}

# How often a text without PHI is used with other words in it.
ALTERED = {"written_negative": 3, "strangers_negative": 12}


def load(path):
    with gzip.open(path, "rt") as file:
        return [(source, text, [tuple(span) for span in spans]) for source, text, spans in json.load(file)]


def load_material(path):
    """Pieces to learn from, and pieces to measure on."""
    with gzip.open(path, "rt") as file:
        pieces = [tuple(piece) for piece in json.load(file)]
    held = [material.is_held(*piece[:2]) for piece in pieces]
    return [p for p, is_held in zip(pieces, held) if not is_held], [p for p, is_held in zip(pieces, held) if is_held]


def is_evaluation(document):
    """A fifth of each corpus, by template: documents that differ only in values fall on the same side."""
    source, text, spans = document
    if source in EVALUATION_ONLY:
        return True
    if source.startswith(("written", "strangers")):
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
    if source == "meddocan_es":
        return "spanish"
    if source in CASUAL:
        return "casual"
    return "negative" if source.startswith("neg_") else "real"


KEPT_PARTS = {"Jr", "Sr", "III", "II"}


def called_otherwise(name, r):
    """Sometimes a shorter or longer form of the name, so that its place says more than its length."""
    parts, u = name.split(" "), r.random()
    if u > 0.15 or not all(part.isalpha() and len(part) > 2 for part in parts):
        return name
    if len(parts) == 1:
        return name + " " + name[::-1].capitalize() if u < 0.04 and name[0].isupper() and name[1:].islower() else name
    return parts[0] if u < 0.06 else parts[-1] if u < 0.11 else f"{parts[0][0]}. {parts[-1]}"


def rename(document, r, names):
    """The document with other people in it, each the same wherever they occur, and other addresses."""
    source, text, spans = document
    given = names.given_set
    mapping, writer = {}, generate.Document(r, names)

    def other(token):
        low = token.lower()
        if token in KEPT_PARTS:
            return token
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
            value = re.sub(r"[^\W\d_]+", lambda m: other(m.group()), called_otherwise(value, r))
        elif kind == "ADDRESS" and len(value) > 8 and "^" not in value and r.random() < (0.5 if source == "strangers" else 0.8):
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


def overlooked(text, spans, contexts, lexicon):
    """Places of neighbouring capitalised words that the lists call names, at least one of them not an ordinary word."""
    found, before = set(), None
    for place, context in enumerate(contexts):
        if context // 20 != 1:
            before = before if before and text[spans[place][0]:spans[place][1]] in ".-'" else None
            continue
        kind = lexicon.get(F.fold(text[spans[place][0]:spans[place][1]]), 0)
        is_clear = kind & 1 == 0 and (kind >> 4 >= 2 or kind >> 2 & 3 >= 2)
        if before and kind >> 2 and (is_clear or before[1]):
            found |= {before[0], place}
        before = (place, is_clear) if kind >> 2 else None
    return found


class Packer:
    def __init__(self):
        self.words, self.streams = {}, collections.defaultdict(lambda: [[], [], [], []])

    def add(self, group, text, spans, mask, lexicon=None, gap=4):
        """Appends a document's tokens and then a gap: word, context, tag, unlabelled types.

        With a lexicon, pairs of words that look like an overlooked person are not learned from at all."""
        token_spans, contexts = F.tokenize(text)
        if not token_spans:
            return
        words, shapes, tags, masks = self.streams[group]
        for start, end in token_spans:
            token = F.fold(text[start:end])
            words.append(self.words.setdefault(token, len(self.words) + 1))
        shapes += contexts
        own_tags = F.tags_of(token_spans, spans)
        if lexicon is not None:
            for place in overlooked(text, token_spans, contexts, lexicon):
                own_tags[place] = own_tags[place] or 255
        tags += own_tags
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


def start_worker(lists, documents, texts, pieces):
    by_language = collections.defaultdict(list)
    for label, _, text in pieces:
        if label.startswith("language:"):
            by_language[label.removeprefix("language:")].append(text)
    STATE.update(names=generate.Names(lists, held_out=False), documents=documents, texts=texts, pieces=pieces, by_language=by_language, lexicon=lists["lexicon"])
    STATE["names"].given_set = {name.lower() for name in lists["given"] + lists["rare_given"]}


VOWELS, CONSONANTS = "aeiouy", "bcdfghjklmnpqrstvwxz"


def unheard(text, r):
    """The text in a language that does not exist: letters changed for others, always the same ones."""
    table = {}
    for letters in (VOWELS, CONSONANTS):
        others = r.sample(letters, len(letters))
        table.update(zip(letters + letters.upper(), others + [other.upper() for other in others]))
    return text.translate(str.maketrans(table))


def babble(r):
    """Prose in a language made up on the spot: its own syllables, its own small words, its own use of capitals."""
    onsets = r.sample("b c d f g h j k l m n p r s t v w y z ch sh ng mb nd kw th tr st pr kh zh ts ll ny gh".split(), r.randint(9, 16)) + ["", ""]
    vowels = r.sample("a e i o u a e i o aa ei ou ia uo ä ö ü y é á".split(), r.randint(4, 8))
    codas = [""] * r.choice([1, 4, 12]) + r.sample("n m s r l t k sh ng d g st nt".split(), r.randint(1, 5))

    def word(low, high):
        return "".join(r.choice(onsets) + r.choice(vowels) + r.choice(codas) for _ in range(r.randint(low, high)))

    small, common = [word(1, 1) for _ in range(24)], [word(1, 4) for _ in range(260)]
    nouns = r.random() < 0.12  # some languages write every noun with a capital
    capitals = r.choice([0, 0, 0.02, 0.06])
    lines = []
    for _ in range(r.randint(3, 9)):
        words = [r.choice(small) if r.random() < 0.35 else r.choice(common) for _ in range(r.randint(4, 16))]
        words = [w.capitalize() if len(w) > 3 and (nouns and r.random() < 0.4 or r.random() < capitals) else w for w in words]
        words[0] = words[0][:1].upper() + words[0][1:]
        for _ in range(r.choice([0, 0, 1, 2])):
            words[r.randrange(len(words))] += ","
        lines.append(" ".join(words) + r.choice(".....?!:"))
    return r.choice([" ", " ", "\n", "\n\n"]).join(lines)


# Material whose words are ordinary prose rather than identifiers.
PROSE = {"markdown", "rst", "text", "changelog", "prompt", "po", "html", "csv"}


def work_on_material(r, packer, names, pieces):
    """Pieces as they are, with other identifiers, and with people in them."""
    for label, _, text in pieces:
        is_language = label.startswith("language:")
        group = "languages" if is_language else "material"
        packer.add(group, text, [], free_mask(group), STATE["lexicon"])
        if is_language and (text.isascii() or r.random() < 0.4):
            packer.add(group, unheard(text, r), [], free_mask(group))
        if is_language and r.random() < 0.35:
            packer.add(group, babble(r), [], free_mask(group))
        if not is_language:
            changed = altered(text, r, names) if label in PROSE and r.random() < 0.5 else noise.altered_code(text, r, names)
            packer.add(group, changed, [], free_mask(group), STATE["lexicon"])
        for _ in range(3 if not is_language else 1 if r.random() < 0.3 else 0):
            planted = plant.plant(r, names, label, text)
            packer.add("planted", planted.text, planted.spans, free_mask("planted"), STATE["lexicon"])


def work_on_languages(r, packer, names, count):
    languages = ["es"] * 12 + ["fr", "de", "pt"] * 4 + ["it", "nl", "pl"] * 3 + sorted(plant.LANGUAGES)
    for _ in range(count):
        language = r.choice(languages)
        document = plant.foreign(r, names, language, STATE["by_language"].get(language))
        packer.add("foreign", document.text, document.spans, free_mask("foreign"))
        packer.add("noise", noise.make(r, names), [], free_mask("noise"))
        if r.random() < 0.5:
            document = plant.log_with_people(r, names)
            packer.add("planted", document.text, document.spans, free_mask("planted"))


def work(job, packer=None):
    kind, seed, count = job
    r, packer, names = random.Random(seed), packer or Packer(), STATE["names"]
    if kind == "material":
        work_on_material(r, packer, names, STATE["pieces"][seed::count])
        return packer.result()
    if kind == "languages":
        work_on_languages(r, packer, names, count)
        return packer.result()
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
            if source in ALTERED:
                for _ in range(ALTERED[source]):
                    packer.add(source, altered(text, r, names), [], free_mask(source))
            elif source.startswith("neg_"):
                packer.add("altered", altered(text, r, names), [], free_mask(source))
            elif any(kind == "NAME" or kind == "ADDRESS" for _, _, kind in spans):
                copies, group = COPIES.get(group_of(source), (2, "renamed"))
                for _ in range(copies):
                    _, text, new_spans = rename(document, r, names)
                    packer.add(group, text, new_spans, free_mask(source))
    return packer.result()


def training_arrays(lists, documents, pieces, count, seed, workers):
    """All training tokens: the list of distinct words, and per group the merged streams."""
    texts = [text for source, text, _ in documents if source.startswith("neg_")]
    jobs = [("generate", seed * 1000 + part, count // 64) for part in range(64)] + [("corpora", part, 32) for part in range(32)]
    jobs += [("material", part, 48) for part in range(48)] + [("languages", seed * 2000 + part, count // 400) for part in range(64)]
    jobs = [job for part in range(16) for job in jobs[part::16]]
    words, merged = {}, collections.defaultdict(list)
    with multiprocessing.Pool(workers, start_worker, (lists, documents, texts, pieces)) as pool:
        for local_words, streams in pool.imap(work, jobs):
            numbers = np.array([0] + [words.setdefault(word, len(words) + 1) for word in local_words], np.int32)
            for group, (ids, shapes, tags, masks) in streams.items():
                merged[group].append((numbers[ids], shapes, tags, masks))
    return list(words), {group: [np.concatenate(part) for part in zip(*parts)] for group, parts in merged.items()}
