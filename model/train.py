"""Trains, quantises, measures and exports the name model.

    python3 train.py --work work --out work/out [--steps 20000] [--documents 640000] [--leave-out source,source]

Training simulates the integer arithmetic of the detector exactly (values are multiples of powers of
two small enough for float32), so what is measured here is what the binary computes.
"""

import argparse
import collections
import json
import pathlib
import random
import time

import numpy as np
import torch
import torch.nn.functional as nn

import data
import evaluate
import export
import features as F
import generate

WIDTH = 64
VOCABULARY = 19328 - F.WORD_BASE
ROW = 256


def quantise(value, scale, limit=127):
    """Rounds to multiples of 1/scale within the int8 range; the gradient passes straight through."""
    rounded = torch.clamp(torch.round(value * scale), -limit, limit) / scale
    return value + (rounded - value).detach()


def activate(value):
    """ReLU to sevenths of a byte: 0 to 127 sixteenths, rounded half up."""
    clipped = torch.clamp(value, 0, 127 / 16)
    rounded = torch.clamp(torch.floor(value * 16 + 0.5), 0, 127) / 16
    return clipped + (rounded - clipped).detach()


class Network(torch.nn.Module):
    def __init__(self, words, dilations, dropout):
        super().__init__()
        self.words = torch.nn.Parameter(torch.randn(words, 3 * WIDTH) * 0.12)
        self.grams = torch.nn.Parameter(torch.randn(F.NGRAM_ROWS + 1, 3 * WIDTH) * 0.08)
        self.contexts = torch.nn.Parameter(torch.randn(F.CONTEXTS, 3 * WIDTH) * 0.12 + 0.05)
        self.convs = torch.nn.ParameterList([torch.randn(WIDTH, WIDTH, 3) * (0.6 / 192 ** 0.5) for _ in dilations])
        self.biases = torch.nn.ParameterList([torch.zeros(WIDTH) for _ in dilations])
        self.output = torch.nn.Parameter(torch.randn(16, WIDTH) * 0.1)
        self.output_bias = torch.nn.Parameter(torch.zeros(16))
        self.gate = torch.nn.Parameter(torch.randn(WIDTH) * 0.1)
        self.gate_bias = torch.nn.Parameter(torch.zeros(()))
        self.dilations, self.dropout = dilations, dropout

    def word_table(self, word_grams):
        """Rows of known words: their own row plus their n-grams', as one."""
        return quantise(self.words + self.gram_rows(word_grams, self.grams), 32)

    def gram_rows(self, grams, table):
        return nn.embedding_bag(grams, table, mode="sum", padding_idx=F.NGRAM_ROWS)

    def forward(self, word_table, word, grams, unknown, contexts, real):
        """word [B,T] rows; grams [U,11] of the unknown tokens at mask `unknown`; contexts [B,T]; real [B,T]."""
        batch, length = word.shape
        rows = nn.embedding(word, word_table)
        rows = rows * (~unknown).unsqueeze(-1)
        rows = rows.masked_scatter(unknown.unsqueeze(-1), self.gram_rows(grams, quantise(self.grams, 32)))
        rows = rows + nn.embedding(contexts, quantise(self.contexts, 32))
        after, itself, before = rows.split(WIDTH, -1)
        total = itself + nn.pad(after, (0, 0, 1, 0))[:, :-1] + nn.pad(before, (0, 0, 0, 1))[:, 1:]
        keep = real.unsqueeze(1).float()
        x = activate(total).transpose(1, 2) * keep
        gate = torch.einsum("bct,c->bt", x, quantise(self.gate, 128)) + self.gate_bias
        for dilation, weight, bias in zip(self.dilations, self.convs, self.biases):
            y = nn.conv1d(x, quantise(weight, 128), padding=dilation, dilation=dilation)
            bias = bias + (torch.round(bias * 2048) / 2048 - bias).detach()
            x = activate(y + bias[:, None] + x) * keep
            if self.training and self.dropout:
                x = nn.dropout1d(x, self.dropout) * (1 - self.dropout)
        bias = self.output_bias
        bias = bias + (torch.round(bias * 2048) / 2048 - bias).detach()
        return nn.linear(x.transpose(1, 2), quantise(self.output, 128), bias), gate


def go_on_from(network, model, features):
    """Gives the network the weights of a model that was written before."""
    def values(table, scale):
        return torch.tensor(np.asarray(table, np.float32) / scale, device=network.words.device)
    with torch.no_grad():
        network.grams[:F.NGRAM_ROWS] = values(model.grams, 32)
        used = len(model.words)
        network.words[:used] = values(model.words, 32) - network.gram_rows(features.known, network.grams)[:used]
        network.contexts.copy_(values(model.contexts, 32))
        for own, bias, (_, weight, old) in zip(network.convs, network.biases, model.convs):
            own.copy_(values(weight, 128).reshape(WIDTH, 3, WIDTH).transpose(1, 2))
            bias.copy_(values(old, 2048))
        network.output.copy_(values(model.output[0], 128))
        network.output_bias.copy_(values(model.output[1], 2048))
        network.gate.copy_(values(model.gate[0], 128))
        network.gate_bias.fill_((model.gate[1] - 1) / 2048)


class Features:
    """Feature rows of every distinct word, on the device."""

    def __init__(self, words, vocabulary, lexicon, device):
        rows = np.zeros(len(words) + 1, np.int64)
        grams = np.full((len(words) + 1, F.NGRAMS_MAX), F.NGRAM_ROWS, np.int64)
        self.lexicon_base = (1 << F.AFFIX_BITS) + (1 << F.TRIGRAM_BITS)
        for number, word in enumerate(words, 1):
            fixed = F.fixed_word_row(word)
            rows[number] = fixed if fixed is not None else vocabulary.get(word, -1)
            if fixed is None:
                own = F.ngram_rows(word, lexicon.get(word, 0))
                grams[number, :len(own)] = own
        self.rows, self.grams = torch.tensor(rows, device=device), torch.tensor(grams, device=device)
        self.is_word = self.grams[:, 0] != F.NGRAM_ROWS
        self.is_letter = torch.tensor([False] + [len(word) == 1 for word in words], device=device)
        known = torch.full((F.WORD_BASE + VOCABULARY, F.NGRAMS_MAX), F.NGRAM_ROWS, dtype=torch.long)
        for word, row in vocabulary.items():
            own = F.ngram_rows(word, lexicon.get(word, 0))
            known[row, :len(own)] = torch.tensor(own)
        self.known = known.to(device)

    def batch(self, ids, drop=0.0, drop_class=0.0):
        """(word rows, n-grams of unknown words, mask of unknown words); some words are forgotten when training."""
        word, is_word = self.rows[ids], self.is_word[ids]
        unknown = word < 0
        if drop:
            unknown = unknown | (is_word & (torch.rand(ids.shape, device=ids.device) < drop))
        grams = self.grams[ids[unknown]]
        if drop_class:
            place = (grams >= self.lexicon_base) & (grams < self.lexicon_base + F.LEX_CLASSES)
            forget = torch.rand(len(grams), 1, device=ids.device) < drop_class
            grams = torch.where(place & forget, self.lexicon_base, grams)
        return word.clamp(min=0), grams, unknown


LOWER = torch.tensor(F.LOWER_SHAPE)
UPPER = torch.tensor(F.UPPER_SHAPE)


def recase(contexts, tags, is_letter):
    """Some rows in lower case, in capitals, with lower-case names only, or with nothing but acronyms left in capitals."""
    device = contexts.device
    case, space, shape = contexts % 4, contexts // 4 % 5, contexts // 20
    draw = torch.rand(len(contexts), 1, device=device)
    lower = draw < 0.22
    names = (draw >= 0.22) & (draw < 0.30) & (tags >= 1) & (tags <= 2)
    mostly = (draw >= 0.30) & (draw < 0.38) & (shape == 1)
    upper = (draw >= 0.38) & (draw < 0.46)
    to_upper = torch.where(is_letter & (shape < 5), 3, UPPER.to(device)[shape])
    shape = torch.where(lower | names | mostly, LOWER.to(device)[shape], torch.where(upper, to_upper, shape))
    case = torch.where((case > 0) & lower, 1, torch.where((case > 0) & upper, 2, case))
    return (shape * 5 + space) * 4 + case


def allowed_tags(device):
    """[tag, unlabelled types] -> which of 16 outputs count as right."""
    table = torch.zeros(len(F.TAGS), 64, 16, dtype=torch.bool)
    for tag in range(len(F.TAGS)):
        table[tag, :, tag] = True
    for mask in range(64):
        for kind in range(6):
            if mask >> kind & 1:
                table[0, mask, 1 + 2 * kind] = table[0, mask, 2 + 2 * kind] = True
    return table.to(device)


def choose_vocabulary(words, streams):
    """Known words, from tokens that are not names, counted as often as training draws them: {word: row}."""
    total, names = np.zeros(len(words) + 1), np.zeros(len(words) + 1)
    for group, (ids, _, tags, _) in streams.items():
        real = tags != 255
        weight = data.GROUPS[group] * (0.4 if group in data.WIDE else 1) * 1e8 / real.sum()
        total += weight * np.bincount(ids[real], minlength=len(total))
        names += weight * np.bincount(ids[real & (tags >= 1) & (tags <= 2)], minlength=len(total))
    chosen = {}
    for number in np.argsort(-(total - names), kind="stable"):
        if number == 0 or F.fixed_word_row(words[number - 1]) is not None:
            continue
        if len(chosen) >= VOCABULARY:
            break
        if names[number] <= 0.5 * total[number]:
            chosen[words[number - 1]] = F.WORD_BASE + len(chosen)
    return chosen


class Batches:
    """Draws training rows from all groups, in changing case."""

    def __init__(self, streams, features, size, device):
        self.streams = {group: [torch.tensor(part, device=device) for part in parts] for group, parts in streams.items()}
        self.features, self.offsets = features, torch.arange(ROW, device=device)
        shares = {group: data.GROUPS[group] for group in data.GROUPS if group in streams}
        self.counts = {group: int(size * share / sum(shares.values())) for group, share in shares.items()}

    def draw(self, groups=None):
        """(word ids, contexts, tags, unlabelled types), each [rows, ROW]."""
        parts = [[], [], [], []]
        for group in groups or self.counts:
            stream = self.streams[group]
            starts = torch.randint(0, len(stream[0]) - ROW, (self.counts[group], 1), device=self.offsets.device)
            for part, source in zip(parts, stream):
                part.append(source[starts + self.offsets])
        ids, contexts, tags, masks = (torch.cat(part).long() for part in parts)
        contexts = recase(contexts, tags, self.features.is_letter[ids])
        return ids, torch.where(ids == 0, 0, contexts), tags, masks


def set_gate(network, batches, recall):
    """Moves the gate's bias so that it lets `recall` of all PHI tokens through; says how much else passes."""
    network.eval()
    with torch.no_grad():
        def gates(groups=None):
            ids, contexts, tags, _ = batches.draw(groups)
            word, grams, unknown = batches.features.batch(ids)
            table = network.word_table(batches.features.known)
            return network(table, word, grams, unknown, contexts, ids != 0)[1], tags
        phi = torch.cat([gate[(tags >= 1) & (tags <= 6)] for gate, tags in (gates() for _ in range(40))])
        network.gate_bias -= torch.quantile(phi[torch.randperm(len(phi), device=phi.device)[:1_000_000]].float(), 1 - recall)
        for group in batches.counts:
            gate, tags = gates([group])
            print(f"gate: {(gate[tags == 0] > 0).float().mean():.3f} of other tokens pass in {group}", flush=True)


def to_model(network, features, vocabulary, lexicon, o_bias):
    """The integer model."""
    def integers(value, scale):
        return torch.clamp(torch.round(value.detach().float().cpu() * scale), -127, 127).to(torch.int8).numpy()
    with torch.no_grad():
        words = network.words + network.gram_rows(features.known, network.grams)
    gate = integers(network.gate, 128), int(torch.floor(network.gate_bias.detach().cpu() * 2048)) + 1
    used = 1 + max(vocabulary.values())
    output_bias = torch.round(network.output_bias.detach().cpu() * 2048).int().numpy()
    output_bias[0] += int(round(o_bias * 2048))
    convs = [
        # Inputs in tap order: [out, in, tap] becomes [out, tap * 64 + in].
        (dilation, integers(weight, 128).transpose(0, 2, 1).reshape(WIDTH, 3 * WIDTH), torch.round(bias.detach().cpu() * 2048).int().numpy())
        for dilation, weight, bias in zip(network.dilations, network.convs, network.biases)
    ]
    rest = {word: kind for word, kind in lexicon.items() if word not in vocabulary}
    return export.Model(integers(words, 32)[:used], integers(network.grams, 32)[:F.NGRAM_ROWS], integers(network.contexts, 32),
                        gate, convs, (integers(network.output, 128), output_bias), vocabulary, rest)


def arrays(args, lists, documents):
    """Training tokens; made once where several trainings share a folder for them."""
    if args.arrays and (args.arrays / "words.json").exists():
        groups = [path.stem for path in sorted(args.arrays.glob("*.npz"))]
        loaded = {group: np.load(args.arrays / f"{group}.npz") for group in groups}
        return json.loads((args.arrays / "words.json").read_text()), {group: [file[key] for key in ("ids", "contexts", "tags", "masks")] for group, file in loaded.items()}
    left_out = set(filter(None, args.leave_out.split(",")))
    training = [d for d in documents if not data.is_evaluation(d) and d[0] not in left_out]
    pieces, _ = data.load_material(args.work / "material.json.gz")
    words, streams = data.training_arrays(lists, training, pieces, args.documents, args.seed, args.workers)
    if args.arrays:
        args.arrays.mkdir(parents=True, exist_ok=True)
        for group, (ids, contexts, tags, masks) in streams.items():
            np.savez(args.arrays / f"{group}.npz", ids=ids, contexts=contexts, tags=tags, masks=masks)
        (args.arrays / "words.json").write_text(json.dumps(words))
    return words, streams


def known_words(words, model):
    """The vocabulary of a model that was written before, as far as its words occur: {word: row}."""
    rows = ((word, model.vocabulary.get(word)) for word in words if F.fixed_word_row(word) is None)
    return {word: row for word, row in rows if row}


def train(args, device):
    """[(share, model)], the lists and the documents: one model, or one for each share of the new in the old weights."""
    started = time.time()
    lists = generate.load_lists(args.work / "lists.json.gz")
    documents = data.load(args.work / "corpora.json.gz")
    words, streams = arrays(args, lists, documents)
    before = export.read(args.go_on) if args.go_on else None
    vocabulary = known_words(words, before) if before else choose_vocabulary(words, streams)
    print(f"{len(words)} words, vocabulary {len(vocabulary)}, tokens", {g: len(s[0]) for g, s in streams.items()}, f"{time.time() - started:.0f} s", flush=True)
    features = Features(words, vocabulary, lists["lexicon"], device)
    torch.manual_seed(args.seed)
    batches = Batches(streams, features, args.batch, device)
    network = Network(F.WORD_BASE + VOCABULARY, args.dilations, args.dropout).to(device)
    if before:
        go_on_from(network, before, features)
    old = {key: value.detach().clone() for key, value in network.state_dict().items()}
    ends = []
    for run in range(args.runs):
        torch.manual_seed(args.seed + run)
        network.load_state_dict(old)
        network.train()
        ends.append(one_run(args, network, features, batches, device, started))
    new = {key: sum(end[key] for end in ends) / len(ends) for key in old}
    models = []
    for share in args.shares if before else [1.0]:
        network.load_state_dict({key: torch.lerp(old[key], new[key], share) for key in old})
        set_gate(network, batches, args.gate_recall)
        models.append((share, to_model(network, features, vocabulary, lists["lexicon"], args.o_bias)))
    return models, lists, documents


def one_run(args, network, features, batches, device, started):
    """Trains, and returns the running average of the weights."""
    average = {key: value.detach().clone() for key, value in network.state_dict().items()}
    dense = [p for name, p in network.named_parameters() if name.startswith(("convs", "output", "gate"))]
    rest = [p for name, p in network.named_parameters() if not name.startswith(("convs", "output", "gate"))]
    optimizer = torch.optim.AdamW([{"params": dense, "weight_decay": 0.01}, {"params": rest, "weight_decay": 0.0}], lr=args.rate, betas=(0.9, 0.98))
    allowed = allowed_tags(device)
    training_started = time.time()
    for step in range(args.steps):
        progress = max(step / args.steps, (time.time() - training_started) / args.seconds)
        if progress >= 1:
            print(f"out of time after {step} steps", flush=True)
            break
        rate = args.rate * min(1, (step + 1) / 200) * (0.5 * (1 + np.cos(np.pi * progress)) * 0.98 + 0.02)
        for group in optimizer.param_groups:
            group["lr"] = rate
        ids, contexts, tags, masks = batches.draw()
        word, grams, unknown = features.batch(ids, args.drop_word, args.drop_class)
        scores, gate = network(network.word_table(features.known), word, grams, unknown, contexts, ids != 0)
        real = tags != 255
        gold, scores = tags[real], scores[real][:, :len(F.TAGS)]
        right = allowed[gold, masks[real]][:, :len(F.TAGS)]
        log_all = torch.logsumexp(scores, -1)
        losses = log_all - torch.logsumexp(scores.masked_fill(~right, -1e4), -1)
        weight = torch.where((gold >= 1) & (gold <= 6), args.phi_weight, 1.0)
        loss = (losses * weight).sum() / weight.sum()
        is_phi = ((gold >= 1) & (gold <= 6)).float()
        loss = loss + 0.2 * nn.binary_cross_entropy_with_logits(gate[real], is_phi, 1 + 4 * is_phi)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        with torch.no_grad():
            decay = min(0.998, (step + 1) / (step + 10))
            torch._foreach_lerp_(list(average.values()), [v.detach() for v in network.state_dict().values()], 1 - decay)
        if step % 500 == 0 or step == args.steps - 1:
            print(f"step {step} loss {loss.item():.4f} {time.time() - started:.0f} s", flush=True)
    return average


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("work"))
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("work/out"))
    parser.add_argument("--steps", type=int, default=20000)
    parser.add_argument("--documents", type=int, default=640_000)
    parser.add_argument("--batch", type=int, default=480)
    parser.add_argument("--seconds", type=float, default=1e9, help="ends training early, and learns slower and slower towards that end")
    parser.add_argument("--rate", type=float, default=3e-3)
    parser.add_argument("--dropout", type=float, default=0.0)
    parser.add_argument("--drop-word", type=float, default=0.12)
    parser.add_argument("--drop-class", type=float, default=0.22)
    parser.add_argument("--phi-weight", type=float, default=1.0)
    parser.add_argument("--gate-recall", type=float, default=0.9997)
    parser.add_argument("--o-bias", type=float, default=0.0)
    parser.add_argument("--dilations", type=lambda text: [int(part) for part in text.split(",")], default=[1, 2, 4, 8])
    parser.add_argument("--leave-out", default="")
    parser.add_argument("--arrays", type=pathlib.Path, help="folder to keep the training tokens in, for several trainings")
    parser.add_argument("--only-arrays", action="store_true")
    parser.add_argument("--short-report", action="store_true")
    parser.add_argument("--go-on", type=pathlib.Path, help="weights to go on from, with their vocabulary")
    parser.add_argument("--runs", type=int, default=1, help="trainings whose weights are averaged; only where they start from the same weights")
    parser.add_argument("--shares", type=lambda text: [float(part) for part in text.split(",")], default=[1.0], help="how much of the new weights to mix into the old ones; one file each")
    parser.add_argument("--workers", type=int, default=15)
    parser.add_argument("--seed", type=int, default=8)
    args = parser.parse_args()
    random.seed(args.seed)
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.backends.cudnn.allow_tf32 = True
    if args.only_arrays:
        arrays(args, generate.load_lists(args.work / "lists.json.gz"), data.load(args.work / "corpora.json.gz"))
        return
    device = "cuda" if torch.cuda.is_available() else "cpu"
    models, lists, documents = train(args, device)
    args.out.mkdir(parents=True, exist_ok=True)
    _, held = data.load_material(args.work / "material.json.gz")
    for share, model in models:
        end = "" if len(models) == 1 else f"_{share:g}"
        report = evaluate.measure(model, lists, documents, held, args.workers, args.short_report)
        model.confidence = np.array([report["calibration"][kind]["table"] for kind in export.REPORTED])
        size = model.write(args.out / f"weights{end}.bin")
        print(f"weights{end}.bin {size} bytes", flush=True)
        (args.out / f"report{end}.json").write_text(json.dumps(report, indent=1))
        export.write_golden(model, evaluate.golden_texts(lists), args.out / f"golden{end}.tsv")
        evaluate.show(report)


if __name__ == "__main__":
    main()
