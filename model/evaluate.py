"""Measures a model: by corpus, by register, by origin of the name and by case.

Strict is exact span and type, relaxed any overlap with the same type, both as in the project's scorer.
"""

import collections
import json
import multiprocessing
import random
import sys

import data
import export
import generate
import noise
import plant

REPORTED = ("NAME", "ADDRESS", "DOB")
# Types whose absence can be trusted, per source; elsewhere false alarms are not counted.
TRUSTED = {
    "pediatric_handoffs": {"NAME", "DOB"}, "aci_bench_names": {"NAME", "ADDRESS"}, "hl7v2_samples": set(), "probablepeople": set(),
    "usaddress": {"ADDRESS"}, "wnut17": {"NAME"}, "btc": {"NAME"}, "wikigold": {"NAME"}, "uner_ewt": {"NAME"},
    "synthea_fhir_patient": {"NAME", "DOB"}, "presidio_synth_v2": {"NAME", "ADDRESS"}, "presidio_generated_large": {"NAME", "ADDRESS"},
    "presidio_generated_small": {"NAME", "ADDRESS"},
}
LIMIT = 400
UNBALANCED = {"uner_ewt": 1900, "btc": 800, "wnut17": 800}
BIASES = (0, 0.5, 1, 1.5, 2, 3)
STATE = {}


# Sets that confidence is measured on: none of their texts, packages, languages or names was trained on.
CALIBRATION = {"aci_bench_names", "dev_synth", "pediatric_handoffs", "synthea_fhir_patient", "neg_mtsamples", "neg_mts_dialog", "neg_medquad", "neg_meqsum",
               "neg_pubmedqa", "meddocan_es", "held_code", "held_prose", "held_data", "held_languages", "held_noise", "held_planted", "held_foreign", "held_notes", "held_written"}
DATA = {"json", "yaml", "toml", "xml", "csv", "sql", "proto", "test", "diff", "html", "css", "minified"}
TEXT = {"markdown", "rst", "text", "changelog", "prompt", "po"}


def held_sets(held, names):
    """Material of packages and languages that were not trained on, as it is and with people in it."""
    r, sets = random.Random(5), collections.defaultdict(list)
    pieces = sorted(held)
    r.shuffle(pieces)
    for label, _, text in pieces:
        kind = "held_languages" if label.startswith("language:") else "held_data" if label in DATA else "held_prose" if label in TEXT else "held_code"
        if len(sets[kind]) < 2 * LIMIT:
            sets[kind].append((kind, text, []))
        if kind != "held_languages" and len(sets["held_planted"]) < 2 * LIMIT:
            planted = plant.plant(r, names, label, text)
            sets["held_planted"].append(("held_planted", planted.text, planted.spans))
    for number in range(2 * LIMIT):
        sets["held_noise"].append(("held_noise", noise.make(r, names), []))
        document = plant.foreign(r, names, r.choice(["es"] * 8 + sorted(plant.LANGUAGES)), None)
        sets["held_foreign"].append(("held_foreign", document.text, document.spans))
    return sets


def evaluation_sets(lists, documents, held, short):
    """{name of the set: documents}."""
    sets = collections.defaultdict(list)
    for document in documents:
        if data.is_evaluation(document) and len(sets[document[0]]) < UNBALANCED.get(document[0], LIMIT):
            sets[document[0]].append(document)
    for source in ("unseen", "pediatric_handoffs", "dev_synth", "presidio_generated_large", "aci_bench_names", "uner_ewt"):
        for case, change in (("lower", str.lower), ("upper", str.upper)):
            sets[f"{source}:{case}"] = [(source, change(text), spans) for source, text, spans in sets[source] if len(change(text)) == len(text)]
    held_out = generate.Names(lists, held_out=True)
    sets.update(held_sets(held, held_out))
    r = random.Random(99)
    texts = [text for source, text, _ in sets["neg_mtsamples"] + sets["neg_medquad"]]
    for register, _ in generate.REGISTERS:
        sets[f"generated:{register}"] = [("generated",) + generate.make(r, held_out, texts, register)[1:] for _ in range(150)]
    for register in ("clinician", "notes", "handoff", "hard", "hardneg", "negatives", "forms", "patient"):
        sets["held_notes"] += sets[f"generated:{register}"]
    for origin in held_out.origins + ["hyphenated", "initial"] if not short else []:
        kin = origin if origin in held_out.people else "english"
        made = []
        while len(made) < 150:
            register = r.choice(["clinician", "chat", "patient", "notes", "handoff", "dialogue", "forms"])
            document = with_origin(r, held_out, kin, origin, register)
            if any(kind == "NAME" for _, _, kind in document[2]):
                made.append(document)
        for case, change in (("as written", str), ("lower", str.lower), ("upper", str.upper)):
            sets[f"origin:{origin}:{case}"] = [(s, change(t), p) for s, t, p in made if len(change(t)) == len(t)]
    return sets


def with_origin(r, names, kin, origin, register):
    drawn = names
    if origin in ("hyphenated", "initial"):
        class Changed(generate.Names):
            def __init__(self):
                self.__dict__.update(names.__dict__)

            def person(self, r, _=None):
                p = names.person(r, kin)
                p["last"] = p["last"] + "-" + r.choice(names.table["last"]) if origin == "hyphenated" else p["last"]
                p["first"] = p["first"] if origin == "hyphenated" else p["first"][0] + "."
                return p
        drawn = Changed()
    return ("generated",) + generate.make(r, drawn, [], register, kin)[1:]


def count(gold, found, trusted):
    """{type: [gold, gold found strictly, gold touched, found, found touching gold]}."""
    tally = {}
    for kind in REPORTED:
        right = [(s, e) for s, e, k in gold if k == kind]
        ours = [(s, e) for s, e, k in found if k == kind]
        touched = sum(any(s < e2 and s2 < e for s2, e2 in ours) for s, e in right)
        touching = sum(any(s < e2 and s2 < e for s2, e2 in right) for s, e in ours)
        strict = len(set(right) & set(ours))
        found_count = touching if trusted is not None and kind not in trusted else len(ours)
        tally[kind] = [len(right), strict, touched, found_count, touching]
    return tally


def one(document):
    """Counts for each bias of "nothing", the words, what was found without bias, and leads with their truth."""
    source, text, spans = document
    model, trusted = STATE["model"], TRUSTED.get(source)
    scored = model.scores(text)
    tallies, leads = [], []
    for bias in BIASES:
        found = model.decode(text, *scored, o_bias=bias)
        tallies.append(count(spans, [span[:3] for span in found], trusted))
        if bias == 0:
            plain = [span[:3] for span in found if span[2] in REPORTED]
            for start, end, kind, lead in found:
                if kind in REPORTED and (trusted is None or kind in trusted):
                    hit = any(kind == k and start < e and s < end for s, e, k in spans)
                    leads.append((kind, min(max(int(lead) >> export.STEP_BITS, 0), export.STEPS - 1), hit))
    return tallies, len(text.split()), plain, leads


def start(model):
    STATE["model"] = model


def fit(leads):
    """How many in a hundred are right at each step of lead: never falling (pooled where it would), from [lead, right] pairs."""
    blocks = []
    for step in range(export.STEPS):
        here = [right for lead, right in leads if lead == step]
        blocks.append([sum(here) + 0.5, len(here) + 1.0, 1])
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] >= blocks[-1][0] / blocks[-1][1]:
            right, count, steps = blocks.pop()
            blocks[-1] = [blocks[-1][0] + right, blocks[-1][1] + count, blocks[-1][2] + steps]
    return [min(99, max(1, round(100 * right / count))) for right, count, steps in blocks for _ in range(steps)]


def calibrate(leads):
    """Fits on one half of the documents, checks on the other: {kind: {"table", "check": {decile: [findings, right]}}}."""
    result = {}
    for kind in REPORTED:
        halves = [[(lead, hit) for number, k, lead, hit in leads if k == kind and number % 2 == half] for half in (0, 1)]
        table, check = fit(halves[0]), {}
        for lead, hit in halves[1]:
            entry = check.setdefault(str(table[lead] // 10 * 10), [0, 0, 0])
            check[str(table[lead] // 10 * 10)] = [entry[0] + 1, entry[1] + hit, entry[2] + table[lead]]
        result[kind] = {"table": fit(halves[0] + halves[1]), "check": check}
    return result


def measure(model, lists, documents, held, workers, short=False):
    """{set: {counts per type, words, mistakes}}; counts are also given for other biases of "nothing"."""
    report, all_leads = {}, []
    sets = evaluation_sets(lists, documents, held, short)
    with multiprocessing.Pool(workers, start, (model,)) as pool:
        for name, members in sets.items():
            number = 0
            totals, words, mistakes = [{kind: [0] * 5 for kind in REPORTED} for _ in BIASES], 0, []
            for document, (tallies, size, found, leads) in zip(members, pool.map(one, members, chunksize=8)):
                words += size
                for total, tally in zip(totals, tallies):
                    for kind in REPORTED:
                        total[kind] = [a + b for a, b in zip(total[kind], tally[kind])]
                if name in CALIBRATION:
                    number += 1
                    all_leads += [(number, kind, lead, hit) for kind, lead, hit in leads]
                wrong = mistakes_in(document, found)
                if wrong and len(mistakes) < 60:
                    mistakes.append(wrong)
            report[name] = {"counts": totals[0], "biased": dict(zip(map(str, BIASES), totals)), "words": words, "documents": len(members), "mistakes": mistakes}
    report["calibration"] = calibrate(all_leads)
    return report


def mistakes_in(document, found):
    source, text, spans = document
    gold = {span for span in spans if span[2] in REPORTED}
    trusted = TRUSTED.get(source, set(REPORTED))
    missed = [(kind, text[s:e], text[max(0, s - 40):e + 30]) for s, e, kind in sorted(gold - set(found))]
    extra = [(kind, text[s:e], text[max(0, s - 40):e + 30]) for s, e, kind in sorted(set(found) - gold) if kind in trusted]
    return {"missed": missed, "extra": extra} if missed or extra else None


def rates(counts):
    gold, strict, touched, found, touching = counts
    ratio = lambda a, b: a / b if b else float("nan")
    precision, recall = ratio(strict, found), ratio(strict, gold)
    return {"n": gold, "strict_f1": ratio(2 * strict, found + gold), "recall": ratio(touched, gold), "precision": ratio(touching, found)}


def show(report):
    """A table of every set."""
    print(f"{'set':44}" + "".join(f"{kind:>30}" for kind in REPORTED) + "   false names/1,000 words")
    for name, entry in report.items():
        if name == "calibration":
            continue
        cells = ""
        for kind in REPORTED:
            r = rates(entry["counts"][kind])
            cells += f"{r['n']:6} {r['strict_f1']:.3f} R{r['recall']:.3f} P{r['precision']:.3f}    " if r["n"] else " " * 30
        c = entry["counts"]["NAME"]
        print(f"{name:44}{cells}   {1000 * (c[3] - c[4]) / max(1, entry['words']):.2f}")


def golden_texts(lists):
    """Generated texts for the agreement test between Python and Rust."""
    r, names = random.Random(4242), generate.Names(lists, held_out=True)
    texts = [generate.make(r, names, ["The patient was seen."], register)[1] for register, _ in generate.REGISTERS for _ in range(3)]
    texts += [plant.log_with_people(r, names).text[:1500] for _ in range(12)]
    texts += [plant.foreign(r, names, language, None).text for language in sorted(plant.LANGUAGES)]
    return [text.replace("\t", " ").replace("\r", "").replace("\\", "/") for text in texts]


def markdown(report, bias):
    """The tables of the model card, at the detector's default threshold (`bias` is the lead it asks for)."""
    def cell(counts):
        r = rates(counts)
        return f"{r['n']} | {r['strict_f1']:.3f} | {r['recall']:.3f} | {r['precision']:.3f}" if r["n"] else "0 | | |"
    lines = ["| set | " + " | ".join(f"{kind} n | strict F1 | recall | precision" for kind in REPORTED) + " | false names per 1,000 words |", "|---" * 14 + "|"]
    origins = collections.defaultdict(dict)
    for name, entry in report.items():
        if name == "calibration":
            continue
        counts = entry["biased"][bias]
        if name.startswith("origin:"):
            _, origin, case = name.split(":")
            origins[origin][case] = rates(counts["NAME"])
            continue
        false = 1000 * (counts["NAME"][3] - counts["NAME"][4]) / max(1, entry["words"])
        lines.append(f"| {name} | " + " | ".join(cell(counts[kind]) for kind in REPORTED) + f" | {false:.2f} |")
    lines += ["", "| origin of the name | recall as written | lower case | capitals | strict F1 as written |", "|---|---|---|---|---|"]
    for origin, cases in origins.items():
        written, lower, upper = cases["as written"], cases["lower"], cases["upper"]
        lines.append(f"| {origin.replace('_', ', ')} | {written['recall']:.3f} | {lower['recall']:.3f} | {upper['recall']:.3f} | {written['strict_f1']:.3f} |")
    means = [sum(cases[case]["recall"] for cases in origins.values()) / len(origins) for case in ("as written", "lower", "upper")]
    lines.append("| mean | " + " | ".join(f"{mean:.3f}" for mean in means) + " | |")
    return "\n".join(lines)


def write_documents(work, name):
    """One set as JSON lines, for measuring the whole detector with `phigate eval`."""
    _, held = data.load_material(f"{work}/material.json.gz")
    sets = evaluation_sets(generate.load_lists(f"{work}/lists.json.gz"), data.load(f"{work}/corpora.json.gz"), held, short=False)
    for number, (_, text, spans) in enumerate(sets[name]):
        spans = [{"start": start, "end": end, "type": kind} for start, end, kind in spans if kind in REPORTED]
        print(json.dumps({"id": f"{name}-{number}", "types": REPORTED, "text": text, "spans": spans}, ensure_ascii=False))


if __name__ == "__main__":
    if sys.argv[1] == "documents":  # python3 evaluate.py documents work origin:african:lower
        write_documents(*sys.argv[2:])
    else:
        with open(sys.argv[1]) as file:
            print(markdown(json.load(file), "1"))
