"""Scores several detectors on the same documents, with one set of definitions.

  score.py documents GOLD[:N]...                the documents, one {"id", "text"} a line
  score.py table FOLDER GOLD[:N]...             Markdown from FOLDER/DETECTOR.jsonl

GOLD holds lines {"id", "text", "spans": [{"start", "end", "type"}]}, offsets in code points; N takes that many
documents by a fixed draw. A finding is exact when its edges and type are those of a label, and touches when it
overlaps a label of its type. Some corpora label only some types: a line's "types", or COVERAGE (a JSON file
{source: [types]}), names those whose absence can be trusted, and other findings that touch nothing do not count.
"""

import collections
import json
import os
import random
import sys

KINDS = ["NAME", "DOB", "ADDRESS", "PHONE", "EMAIL", "SSN", "MRN", "MEDICARE_ID"]
OURS = "phigate"
ALIASES = {"LOCATION": "ADDRESS", "DATE": "DOB"}
SEED = 7


def main():
    command, rest = sys.argv[1], sys.argv[2:]
    if command == "documents":
        for _, documents in map(load, rest):
            for document in documents:
                print(json.dumps({"id": document["id"], "text": document["text"]}))
    else:
        report(rest[0], [load(gold) for gold in rest[1:]])


def load(argument):
    path, _, count = argument.partition(":")
    name = os.path.basename(path).removesuffix(".jsonl")
    coverage = json.load(open(os.environ["COVERAGE"])) if "COVERAGE" in os.environ else {}
    with open(path, encoding="utf-8") as lines:
        documents = [json.loads(line) for line in lines if line.strip()]
    for index, document in enumerate(documents):
        document["id"] = f"{name}:{index}"
        document["types"] = set(document.get("types") or coverage.get(document.get("source"), KINDS))
    if count and int(count) < len(documents):
        documents = random.Random(SEED).sample(documents, int(count))
    return name, documents


def report(folder, corpora):
    detectors = predictions(folder)
    wins = []
    clean, labelled_corpora = {}, {}
    for name, documents in corpora:
        scores = {detector: count(documents, found) for detector, found in detectors.items()}
        labelled = [kind for kind in KINDS if any(tally.labels[kind] for tally in scores.values())]
        if labelled:
            print_corpus(name, documents, scores, labelled)
            wins += beaten(name, scores, labelled)
            labelled_corpora[name] = scores
        else:
            clean[name] = scores
    if labelled_corpora:
        print_whole(labelled_corpora)
    if clean:
        print_clean(clean)
    print_wins(wins)


def predictions(folder):
    """Returns each detector's findings, and a second version with places as addresses and dates as births."""
    result = {}
    for file in sorted(os.listdir(folder)):
        name = file.removesuffix(".jsonl")
        with open(os.path.join(folder, file), encoding="utf-8") as lines:
            rows = {row["id"]: row["spans"] for row in map(json.loads, lines)}
        plain = {key: {(s["start"], s["end"], s["type"].upper()) for s in spans} for key, spans in rows.items()}
        result[name] = plain
        alias = {key: {(s, e, ALIASES.get(kind, kind)) for s, e, kind in spans} for key, spans in plain.items()}
        if alias != plain and name != OURS:
            result[name + "+alias"] = alias
    if OURS in result:
        result[OURS] = result.pop(OURS)
    return result


class Tally:
    def __init__(self):
        self.labels, self.found, self.exact, self.touched, self.right = (collections.Counter() for _ in range(5))
        self.characters = self.leaked = self.harmless = self.over = 0
        self.words = self.alarms = 0
        self.with_phi = self.whole = self.without_phi = self.untouched = 0

    def strict(self, kind):
        return f1(ratio(self.exact[kind], self.found[kind]), ratio(self.exact[kind], self.labels[kind]))

    def recall(self, kind):
        return ratio(self.touched[kind], self.labels[kind])

    def precision(self, kind):
        return ratio(self.right[kind], self.found[kind])

    def relaxed(self, kind):
        return f1(self.precision(kind), self.recall(kind))


def ratio(part, whole):
    return part / whole if whole else 0.0


def f1(precision, recall):
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def count(documents, found):
    tally = Tally()
    for document in documents:
        count_document(tally, document, found.get(document["id"], set()))
    for counter in (tally.labels, tally.found, tally.exact, tally.touched, tally.right):
        counter["ALL"] = sum(counter[kind] for kind in KINDS)
    return tally


def count_document(tally, document, found):
    text = document["text"]
    spans = {(s["start"], s["end"], s["type"]) for s in document["spans"] if s["start"] < s["end"]}
    labels = {span for span in spans if span[2] in KINDS}
    everything = {(s, min(e, len(text)), kind) for s, e, kind in found if s < min(e, len(text))}
    findings = {span for span in everything if span[2] in KINDS}
    findings = {span for span in findings if span[2] in document["types"] or touches_any(span, labels)}
    for kind in KINDS:
        ours = {span for span in findings if span[2] == kind}
        theirs = {span for span in labels if span[2] == kind}
        tally.labels[kind] += len(theirs)
        tally.found[kind] += len(ours)
        tally.exact[kind] += len(ours & theirs)
        tally.touched[kind] += sum(touches_any(span, ours) for span in theirs)
        tally.right[kind] += sum(touches_any(span, theirs) for span in ours)
    if not labels:
        tally.words += len(text.split())
        tally.alarms += len(findings)
        tally.without_phi += 1
        tally.untouched += not findings
    leaked = tally.leaked
    count_characters(tally, text, labels, spans, everything)
    tally.with_phi += bool(labels)
    tally.whole += bool(labels) and tally.leaked == leaked


def touches_any(span, others):
    return any(o[2] == span[2] and o[0] < span[1] and span[0] < o[1] for o in others)


def count_characters(tally, text, labels, spans, findings):
    """Counts letters and digits of labels without any finding, and of harmless text with one."""
    covered, secret, labelled = (cover(which, len(text)) for which in (findings, labels, spans))
    for at, char in enumerate(text):
        if char.isalnum():
            tally.characters += secret[at]
            tally.leaked += secret[at] and not covered[at]
            tally.harmless += not labelled[at]
            tally.over += covered[at] and not labelled[at]


def cover(spans, length):
    flags = bytearray(length)
    for start, end, _ in spans:
        flags[start:end] = b"\1" * (end - start)
    return flags


def print_corpus(name, documents, scores, kinds):
    columns = [*kinds, "ALL"]
    labels = next(iter(scores.values())).labels
    print(f"\n### {name}: {len(documents)} documents\n")
    print("| detector |", " | ".join(f"{kind} ({labels[kind]})" for kind in columns), "| leak % | over % | false alarms |")
    print("|---|" + "---|" * (len(columns) + 3))
    rivals = {detector: tally for detector, tally in scores.items() if detector != OURS}
    best = {
        (kind, measure): max((getattr(tally, measure)(kind) for tally in rivals.values()), default=0)
        for kind in columns
        for measure in ("strict", "recall")
    }
    for detector, tally in scores.items():
        if detector.endswith("+alias") and not is_worth_a_row(detector, scores, best, kinds):
            continue
        cells = []
        for kind in columns:
            figures = [(getattr(tally, measure)(kind), best[kind, measure]) for measure in ("strict", "recall")]
            cells.append(" / ".join(bold(value, top and value == top and detector != OURS) for value, top in figures))
        leak, over = 100 * ratio(tally.leaked, tally.characters), 100 * ratio(tally.over, tally.harmless)
        alarms = f"{1000 * tally.alarms / tally.words:.2f}" if tally.words else "–"
        print(f"| {detector} |", " | ".join(cells), f"| {leak:.1f} | {over:.1f} | {alarms} |")


def is_worth_a_row(detector, scores, best, kinds):
    """Returns whether a row is needed: only if places as addresses or dates as births make the peer the best."""
    tally, plain = scores[detector], scores[detector.removesuffix("+alias")]
    return any(
        getattr(tally, measure)(kind) == best[kind, measure] > getattr(plain, measure)(kind)
        for kind in kinds
        if kind in ALIASES.values()
        for measure in ("strict", "recall")
    )


def bold(value, is_best):
    return f"**{figure(value)}**" if is_best else figure(value)


def figure(value):
    return f"{value:.2f}".lstrip("0") if value < 0.995 else f"{value:.2f}"


def print_whole(corpora):
    print("\n### Whole documents, %: with PHI and nothing leaked / without PHI and no finding of the eight kinds\n")
    some = {name: next(iter(scores.values())) for name, scores in corpora.items()}
    print("| detector |", " | ".join(f"{name} ({t.with_phi} / {t.without_phi})" for name, t in some.items()), "|")
    print("|---|" + "---|" * len(corpora))
    for detector in next(iter(corpora.values())):
        if not detector.endswith("+alias"):
            cells = (whole_cell(scores[detector]) for scores in corpora.values())
            print(f"| {detector} |", " | ".join(cells), "|")


def whole_cell(tally):
    pairs = ((tally.whole, tally.with_phi), (tally.untouched, tally.without_phi))
    return " / ".join(f"{100 * part / of:.0f}" if of else "–" for part, of in pairs)


def print_clean(corpora):
    print("\n### Texts without PHI: false alarms per 1,000 words (harmless letters and digits covered, %)\n")
    print("| detector |", " | ".join(corpora), "| all |")
    print("|---|" + "---|" * (len(corpora) + 1))
    for detector in next(iter(corpora.values())):
        if detector.endswith("+alias"):
            continue
        tallies = [scores[detector] for scores in corpora.values()]
        cells = [clean_cell([tally]) for tally in tallies] + [clean_cell(tallies)]
        print(f"| {detector} |", " | ".join(cells), "|")


def clean_cell(tallies):
    total = lambda what: sum(getattr(tally, what) for tally in tallies)
    return f"{1000 * ratio(total('alarms'), total('words')):.2f} ({100 * ratio(total('over'), total('harmless')):.1f})"


def beaten(corpus, scores, kinds):
    """Returns every figure at which a peer is better than phigate, with those peers, the best first."""
    if OURS not in scores:
        return
    ours = scores[OURS]
    for measure in ("strict", "recall"):
        for kind in [*kinds, "ALL"]:
            own = getattr(ours, measure)(kind)
            ahead = {name: tally for name, tally in scores.items() if getattr(tally, measure)(kind) > own + 1e-9}
            if ahead:
                yield measure, f"{corpus}, {kind} ({ours.labels[kind]})", lines_of(ahead, ours, measure, kind)
    ahead = {name: tally for name, tally in scores.items() if leak(tally) < leak(ours) - 1e-9}
    if ahead:
        yield "leak", corpus, lines_of(ahead, ours, "leak", None)


def leak(tally):
    return ratio(tally.leaked, tally.characters)


def lines_of(ahead, ours, measure, kind):
    def words(tally):
        if measure == "leak":
            return f"{100 * leak(tally):.1f} % ({100 * ratio(tally.over, tally.harmless):.1f} %)"
        return f"{getattr(tally, measure)(kind):.3f} ({figure(tally.precision(kind))})"

    plain = {name: words(tally) for name, tally in ahead.items()}
    own = [name for name in plain if plain.get(name.removesuffix("+alias")) != plain[name] or "+" not in name]
    own.sort(key=lambda name: plain[name], reverse=measure != "leak")
    return f"{OURS} {words(ours)}; " + ", ".join(f"{name} {plain[name]}" for name in own)


def print_wins(wins):
    titles = {
        "strict": "strict F1 (relaxed precision in brackets)",
        "recall": "relaxed recall (relaxed precision in brackets)",
        "leak": "less leaked, whatever the type (harmless text covered in brackets)",
    }
    for measure, title in titles.items():
        print(f"\n### Where a peer is ahead: {title}\n")
        chosen = [f"- {where}: {what}" for which, where, what in wins if which == measure]
        print("\n".join(chosen) or "Nowhere.")


if __name__ == "__main__":
    main()
