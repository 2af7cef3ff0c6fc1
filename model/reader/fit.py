"""Fits the decision about candidates: boosted trees over the features that the detector prints, as a table of whole numbers.

    python3 fit.py --features NAME=features.jsonl=texts.jsonl … --out FOLDER [--held NAME] [--group beyond]

`features.jsonl` comes from `cargo run -p phi-detect --example features < texts.jsonl`; `texts.jsonl` has the labelled spans.
Prints what each set would leak and cover, judged by trees that were fitted without its documents. The group `core` has the eight
kinds of the specification, `beyond` the others: it needs texts in which all kinds are labelled.
"""

import argparse
import json
import pathlib

import numpy as np

import kinds
from sklearn.ensemble import HistGradientBoostingClassifier

# As in `decide/doubt.rs`.
ASKED_MIN, SURE, WHOLE_MAX, AROUND_SURE, AROUND_DOUBTFUL = 0.04, 0.8, 4 << 10, 600, 200
CORE = {"SSN", "DOB", "PHONE", "EMAIL", "ADDRESS", "MRN", "NAME", "MEDICARE_ID"}
FOLDS = 4
UNIT = 65536
# Evidence of which more never makes a candidate less likely.
MONOTONE = {"reader_mean": 1, "has_label": 1, "follows_person": 1, "tagger": 1}


def names():
    """The features, in the order of the source."""
    source = (pathlib.Path(__file__).resolve().parents[2] / "crates/phi-detect/src/decide/features.rs").read_text()
    table = source.split("pub(crate) const NAMES", 1)[1].split("[\n", 1)[1].split("];", 1)[0]
    return [line.strip().strip('",') for line in table.splitlines() if line.strip()]


class Set:
    """Labelled documents with their candidates of a group of kinds."""

    def __init__(self, name, features, texts, group):
        self.name, self.documents, self.rows, self.looks, self.right, self.weights, self.place = name, [], [], [], [], [], []
        golds = [json.loads(line) for line in open(texts)]
        for number, (line, gold) in enumerate(zip(open(features), golds)):
            text = gold["text"]
            # Bytes to code points.
            offsets = np.cumsum([0] + [len(letter.encode()) for letter in text])
            core, other = np.zeros(len(text) + 1, bool), np.zeros(len(text) + 1, bool)
            of_kind = {}
            for span in gold["spans"]:
                is_own = (span["type"] in CORE) == (group == "core")
                (core if is_own else other)[span["start"]:span["end"]] = True
                for kind in kinds.MEANINGS.get(span["type"], [span["type"]]):
                    of_kind.setdefault(kind, np.zeros(len(text) + 1, bool))[span["start"]:span["end"]] = True
            letters = np.array([letter.isalnum() for letter in text] + [False])
            kept = []
            for one in json.loads(line)["candidates"]:
                start, end = np.searchsorted(offsets, [one["start"], one["end"]])
                inside = letters[start:end]
                is_own = (one["kind"].upper() in CORE) == (group == "core")
                if not is_own or not inside.any() or gold.get("only", one["kind"]) != one["kind"]:
                    continue
                right = core if group == "core" else of_kind.get(one["kind"].upper(), np.zeros(len(text) + 1, bool))
                share = right[start:end][inside].mean()
                is_other = share < 0.5 and (core | other)[start:end][inside].mean() > 0.5
                self.rows.append(one["features"])
                # The reader's own candidates have no first look.
                self.looks.append(one["first_look"] or one["features"])
                self.right.append(share >= 0.5)
                self.weights.append(0.25 if is_other else 1.0 if share in (0, 1) else 0.6)
                self.place.append((number, start, end, one["standing"] == "kept", one["kind"], one["rule"], one["features"][1], bool(one["first_look"])))
            self.documents.append((core, other, letters))

    def asked(self, likely):
        """Which candidates the reader is asked about, given how likely each is at the first look."""
        asked = np.zeros(len(self.place), bool)
        stretches = {}
        for (number, start, end, *_, has_look), share in zip(self.place, likely):
            if has_look and share >= ASKED_MIN:
                reach = AROUND_SURE if share >= SURE else AROUND_DOUBTFUL
                if share >= SURE and len(self.documents[number][2]) <= WHOLE_MAX:
                    reach = WHOLE_MAX
                stretches.setdefault(number, []).append((start - reach, end + reach))
        for at, (number, start, end, *_) in enumerate(self.place):
            asked[at] = any(low < end and start < high for low, high in stretches.get(number, ()))
        read = sum(min(sum(high - low for low, high in all_), len(self.documents[number][2])) for number, all_ in stretches.items())
        return asked, read / max(1, sum(len(one[2]) for one in self.documents))

    def judge(self, keep):
        """Documents without leak, letters that leak, harmless letters covered, harmless documents untouched."""
        covered = [np.zeros(len(core), bool) for core, _, _ in self.documents]
        touched = [False] * len(covered)
        for (number, start, end, *_), is_kept in zip(self.place, keep):
            if is_kept:
                covered[number][start:end] = True
                touched[number] = True
        sums = np.zeros(8)
        for (core, other, letters), found, is_touched in zip(self.documents, covered, touched):
            missed = core & letters & ~found
            sums += [core.any(), core.any() and not missed.any(), (core & letters).sum(), missed.sum(), (letters & ~core & ~other).sum(), (letters & ~core & ~other & found).sum(),
                     not core.any(), not core.any() and not is_touched]
        phi, whole, letters, missed, harmless, wrong, clean, untouched = np.maximum(sums, 1e-9)
        return f"no leak {whole / phi:.3f} leak {100 * missed / letters:5.2f} covered {100 * wrong / harmless:5.2f} untouched {untouched / clean:.3f} ({phi:.0f} + {clean:.0f})"


def is_certain(place):
    """As `decide::is_certain`."""
    return place[3] and place[4] != "name" and not place[5].endswith(".model") and place[6] >= 900


def fit(rows, right, weights, features, trees=160, leaves=20):
    monotone = [MONOTONE.get(name, 0) for name in features]
    model = HistGradientBoostingClassifier(max_iter=trees, max_depth=5, max_leaf_nodes=leaves, learning_rate=0.07, min_samples_leaf=15, l2_regularization=1.0,
                                           monotonic_cst=monotone, random_state=1)
    return model.fit(rows, right, sample_weight=weights)


def fit_look(looks, has_look, right, weights, features):
    """The first look is coarser: it only says what is worth reading, and decides about what is not."""
    return fit(looks[has_look], right[has_look], weights[has_look], features, trees=80, leaves=12)


def table_of(model):
    """Nodes as lines: tree, feature, number, child at or below the bound, child above."""
    lines = [f"0\t-1\t{round(float(np.ravel(model._baseline_prediction)[0]) * UNIT)}\t0\t0"]
    for number, (predictor,) in enumerate(model._predictors, 1):
        for node in predictor.nodes:
            if node["is_leaf"]:
                lines.append(f"{number}\t-1\t{round(float(node['value']) * UNIT)}\t0\t0")
            else:
                lines.append(f"{number}\t{node['feature_idx']}\t{int(np.floor(node['num_threshold']))}\t{node['left']}\t{node['right']}")
    return lines


def show_beyond(sets, told, judged):
    """What the further kinds would leave and cover, and how much of each kind is found."""
    for one in sets:
        shares = told[one.name] if one.name in told else judged(one)
        for cut in (0.5, 0.35, 0.2):
            print(one.name, cut, one.judge(shares >= cut))
        for kind in sorted({place[4] for place in one.place}):
            here = np.array([place[4] == kind for place in one.place], bool)
            kept, right = here & (shares >= 0.35), np.array(one.right, bool)
            print(f"    {kind}: {(kept & right).sum()} right, {(kept & ~right).sum()} wrong, {(here & right & ~kept).sum()} left out of those proposed")


def write(folder, name, model):
    """Writes the trees of a model as a table."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = ["# tree\tfeature\tnumber\tlow\thigh"] + table_of(model)
    (folder / f"{name}.tsv").write_text("\n".join(lines) + "\n")
    print(name, len(lines) - 1, "nodes")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--features", nargs="+", required=True)
    parser.add_argument("--held", nargs="*", default=[])
    parser.add_argument("--weight", nargs="*", default=[], help="NAME=factor")
    parser.add_argument("--group", choices=("core", "beyond"), default="core")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    args = parser.parse_args()
    features = names()
    sets = [Set(*one.split("="), args.group) for one in args.features]
    factors = {name: float(factor) for name, factor in (one.split("=") for one in args.weight)}
    learned = [one for one in sets if one.name not in args.held]
    rows = np.concatenate([np.array(one.rows, np.float64).reshape(-1, len(features)) for one in learned])
    looks = np.concatenate([np.array(one.looks, np.float64).reshape(-1, len(features)) for one in learned])
    has_look = np.concatenate([np.array([place[-1] for place in one.place], bool) for one in learned])
    right = np.concatenate([np.array(one.right, bool) for one in learned])
    weights = np.concatenate([np.array(one.weights) * factors.get(one.name, 1.0) for one in learned])
    documents = np.concatenate([np.array([place[0] for place in one.place], int) + 100_000 * number for number, one in enumerate(learned)])
    print(len(rows), "candidates,", round(right.mean(), 3), "right")
    fold = (documents * 2654435761 % 2**32) % FOLDS
    shares, firsts = np.zeros(len(rows)), np.zeros(len(rows))
    for number in range(FOLDS):
        others, here = fold != number, fold == number
        model = fit(rows[others], right[others], weights[others], features)
        shares[here] = model.predict_proba(rows[here])[:, 1]
        if args.group == "beyond":
            continue
        model = fit_look(looks[others], has_look[others], right[others], weights[others], features)
        firsts[here] = model.predict_proba(looks[here])[:, 1]
    whole = fit(rows, right, weights, features)
    if args.group == "beyond":
        told = {one.name: shares[documents // 100_000 == number] for number, one in enumerate(learned)}
        show_beyond(sets, told, lambda one: whole.predict_proba(np.array(one.rows, np.float64))[:, 1])
        write(args.out, "beyond", whole)
        return
    look = fit_look(looks, has_look, right, weights, features)
    at = 0
    for one in sets:
        kept = np.array([place[3] for place in one.place], bool)
        certain = np.array([is_certain(place) for place in one.place], bool)
        print(one.name, "fast      ", one.judge(kept))
        if one.name in args.held:
            told = whole.predict_proba(np.array(one.rows, np.float64))[:, 1]
            first = look.predict_proba(np.array(one.looks, np.float64))[:, 1]
        else:
            told, first = shares[at:at + len(one.rows)], firsts[at:at + len(one.rows)]
            at += len(one.rows)
        asked, read = one.asked(first)
        is_own = np.array([not place[-1] for place in one.place], bool)
        told = np.where(asked, told, np.where(is_own, 0, first))
        print(one.name, f"share of the text that is read {read:.3f}, candidates {asked.mean():.3f}")
        for cut in (0.5, 0.4, 0.3, 0.2):
            print(one.name, "careful", cut, one.judge((told >= cut) | certain))
    for low in np.arange(0, 1, 0.1):
        here = (shares >= low) & (shares < low + 0.1)
        if here.any():
            print(f"said {low:.1f}-{low + 0.1:.1f}: {right[here].mean():.2f} right of {here.sum()}")
    write(args.out, "look", look)
    write(args.out, "trees", whole)


if __name__ == "__main__":
    main()
