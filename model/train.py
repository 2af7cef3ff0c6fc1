"""Trains, quantises, measures and exports the name model.

    python3 train.py --work work --out work/out [--steps 20000] [--documents 640000] [--leave-out source,source]

Training simulates the integer arithmetic of the detector exactly (values are multiples of powers of
two small enough for float32), so what is measured here is what the binary computes.
"""

import argparse
import collections
import json
import multiprocessing
import pathlib
import random
import time

import numpy as np
import torch
import torch.nn.functional as nn

import data
import distil
import evaluate
import export
import features as F
import gates
import generate
import readers

WIDTH, WIDE = 64, export.WIDE
VOCABULARY = 18240 - F.WORD_BASE
BORROWED = 3000
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
    """The narrow layers that look at all that the gate lets through, and the wide ones that look at what those are in doubt about."""

    def __init__(self, vectors, dilations, wide, dropout):
        super().__init__()
        words, size = vectors.shape
        # What a known word has of its own grows from nothing: until texts say otherwise it is like its letters and its vector.
        self.words = torch.nn.Parameter(torch.zeros(words, 3 * WIDTH))
        self.senses = torch.nn.Parameter(torch.randn(size, 3 * WIDTH) * 0.02)
        self.grams = torch.nn.Parameter(torch.randn(F.NGRAM_ROWS + 1, 3 * WIDTH) * 0.08)
        self.contexts = torch.nn.Parameter(torch.randn(F.CONTEXTS, 3 * WIDTH) * 0.12 + 0.05)
        self.convs = torch.nn.ParameterList([torch.randn(WIDTH, WIDTH, 3) * (0.6 / 192 ** 0.5) for _ in dilations])
        self.biases = torch.nn.ParameterList([torch.zeros(WIDTH) for _ in dilations])
        self.output = torch.nn.Parameter(torch.randn(16, WIDTH) * 0.1)
        self.output_bias = torch.nn.Parameter(torch.zeros(16))
        self.gate = torch.nn.Parameter(torch.randn(WIDTH) * 0.1)
        self.gate_bias = torch.nn.Parameter(torch.zeros(()))
        # What the wide layers say is added to the scores, and begins as nothing.
        inputs = [WIDTH] + [WIDE] * (len(wide) - 1)
        self.wide = torch.nn.ParameterList([torch.randn(WIDE, size, 3) * (0.6 / (3 * size) ** 0.5) for size in inputs])
        self.wide_biases = torch.nn.ParameterList([torch.zeros(WIDE) for _ in wide])
        self.wide_output = torch.nn.Parameter(torch.zeros(16, WIDE))
        self.wide_output_bias = torch.nn.Parameter(torch.zeros(16))
        self.dilations, self.wide_dilations, self.dropout = dilations, wide, dropout

    def known_rows(self, features):
        """Rows of known words: their own row plus their n-grams' and their vector's, as one."""
        return self.words + self.gram_rows(features.known, self.grams) + features.vectors @ self.senses

    def gram_rows(self, grams, table):
        return nn.embedding_bag(grams, table, mode="sum", padding_idx=F.NGRAM_ROWS)

    def rows(self, features, ids, forgotten=None, drop_class=0.0):
        """What each token of `ids` adds to itself and its neighbours; each distinct word is summed up once."""
        batch, length = ids.shape
        forgotten = torch.zeros_like(ids, dtype=torch.bool) if forgotten is None else forgotten
        distinct, place = torch.unique(ids * 2 + forgotten, return_inverse=True)
        word, unknown, grams = features.look_up(distinct // 2, distinct % 2 == 1, drop_class)
        known = nn.embedding(word, quantise(self.known_rows(features), 32)) * (~unknown).unsqueeze(-1)
        spelled = self.gram_rows(grams, quantise(self.grams, 32)) * unknown.unsqueeze(-1)
        return nn.embedding(place, known + spelled)

    def first(self, rows, contexts, real):
        """The first layer: what the gate looks at."""
        rows = rows + nn.one_hot(contexts, F.CONTEXTS).to(rows.dtype) @ quantise(self.contexts, 32)
        after, itself, before = rows.split(WIDTH, -1)
        total = itself + nn.pad(after, (0, 0, 1, 0))[:, :-1] + nn.pad(before, (0, 0, 0, 1))[:, 1:]
        return activate(total) * real.unsqueeze(-1).float()

    def forward(self, rows, contexts, real, frozen=False):
        """Scores of the narrow layers, scores with the wide ones, and the gate; with `frozen` only the wide ones learn.

        rows [B,T,3*WIDTH] of the words; contexts [B,T]; real [B,T]. All sums are of small integers, exact in TF32."""
        with torch.set_grad_enabled(torch.is_grad_enabled() and not frozen):
            first = self.first(rows, contexts, real)
            keep = real.unsqueeze(-1).float()
            gate = first @ quantise(self.gate, 128) + self.gate_bias
            x = first
            for dilation, weight, bias in zip(self.dilations, self.convs, self.biases):
                x = self.dropped(convolve(x, x, dilation, weight, bias) * keep)
            narrow = nn.linear(x, quantise(self.output, 128), in_steps(self.output_bias))
        if not self.wide_dilations:
            return narrow, narrow, gate
        x, residual = first, torch.cat([first] * (WIDE // WIDTH), -1)
        for dilation, weight, bias in zip(self.wide_dilations, self.wide, self.wide_biases):
            x = residual = self.dropped(convolve(x, residual, dilation, weight, bias) * keep)
        return narrow, narrow + nn.linear(x, quantise(self.wide_output, 128), in_steps(self.wide_output_bias)), gate

    def dropped(self, x):
        if not self.training or not self.dropout:
            return x
        return x * (torch.rand(len(x), 1, x.shape[-1], device=x.device) >= self.dropout)


def in_steps(bias):
    """A bias as the integers hold it; the gradient passes straight through."""
    return bias + (torch.round(bias * 2048) / 2048 - bias).detach()


def convolve(x, residual, dilation, weight, bias):
    """Three taps of x, `dilation` tokens apart, with weights [out, in, tap]."""
    padded = nn.pad(x, (0, 0, dilation, dilation))
    taps = torch.cat([padded[:, :-2 * dilation], x, padded[:, 2 * dilation:]], -1)
    return activate(taps @ quantise(weight, 128).transpose(1, 2).reshape(len(weight), -1).T + in_steps(bias) + residual)


def go_on_from(network, model, features):
    """Gives the network the weights of a model that was written before."""
    def values(table, scale):
        return torch.tensor(np.asarray(table, np.float32) / scale, device=network.words.device)
    with torch.no_grad():
        network.grams[:F.NGRAM_ROWS] = values(model.grams, 32)
        used = min(len(model.words), len(network.words))
        network.senses.zero_()
        network.words[:used] = values(model.words[:used], 32) - network.gram_rows(features.known, network.grams)[:used]
        network.contexts.copy_(values(model.contexts, 32))
        for own, bias, (_, weight, old) in zip(network.convs, network.biases, model.convs):
            own.copy_(values(weight, 128).reshape(WIDTH, 3, WIDTH).transpose(1, 2))
            bias.copy_(values(old, 2048))
        for own in network.convs[len(model.convs):]:
            own.zero_()  # a further layer begins by handing on what it gets
        network.output.copy_(values(model.output[0], 128))
        network.output_bias.copy_(values(model.output[1], 2048))
        if len(model.wide) == len(network.wide):
            for own, bias, (_, weight, old) in zip(network.wide, network.wide_biases, model.wide):
                own.copy_(values(weight, 128).reshape(WIDE, 3, -1).transpose(1, 2))
                bias.copy_(values(old, 2048))
            network.wide_output.copy_(values(model.wide_output[0], 128))
            network.wide_output_bias.copy_(values(model.wide_output[1], 2048))
        network.gate.copy_(values(model.gate[0], 128))
        network.gate_bias.fill_((model.gate[1] - 1) / 2048)


def spell(words):
    """(whether each is a word, and the n-gram rows of the words) for part of a list."""
    grams = np.full((len(words), F.NGRAMS_MAX), F.NGRAM_ROWS, np.int16)
    fixed = np.full(len(words), -1, np.int16)
    for number, word in enumerate(words):
        row = F.fixed_word_row(word)
        if row is not None:
            fixed[number] = row
        else:
            own = F.ngram_rows(word, LEXICON.get(word, 0))
            grams[number, :len(own)] = own
    return fixed, grams


LEXICON = {}


def spell_all(words, lexicon, workers):
    """`spell` on all processors."""
    LEXICON.update(lexicon)
    parts = [words[start:start + 20_000] for start in range(0, len(words), 20_000)]
    with multiprocessing.Pool(workers) as pool:
        fixed, grams = zip(*pool.map(spell, parts))
    return np.concatenate(fixed), np.concatenate(grams)


class Features:
    """Feature rows of every distinct word, on the device."""

    def __init__(self, words, vocabulary, lexicon, spelled, vectors, device):
        fixed, grams = spelled
        rows = fixed.astype(np.int64)
        for number, word in enumerate(words):
            if rows[number] < 0:
                rows[number] = vocabulary.get(word, -1)
        nothing = np.full((1, F.NGRAMS_MAX), F.NGRAM_ROWS, np.int64)
        self.lexicon_base = (1 << F.AFFIX_BITS) + (1 << F.TRIGRAM_BITS)
        self.rows = torch.tensor(np.concatenate([[0], rows]), device=device)
        self.grams = torch.tensor(np.concatenate([nothing, grams.astype(np.int64)]), device=device)
        self.is_word = self.grams[:, 0] != F.NGRAM_ROWS
        self.is_letter = torch.tensor([False] + [len(word) == 1 for word in words], device=device)
        known = torch.full((F.WORD_BASE + VOCABULARY, F.NGRAMS_MAX), F.NGRAM_ROWS, dtype=torch.long)
        senses = torch.zeros(len(known), vectors[1].shape[1])
        numbers = {word: number for number, word in enumerate(vectors[0])}
        for word, row in vocabulary.items():
            own = F.ngram_rows(word, lexicon.get(word, 0))
            known[row, :len(own)] = torch.tensor(own)
            if word in numbers:
                senses[row] = torch.tensor(vectors[1][numbers[word]] / 32)
        self.known, self.vectors = known.to(device), senses.to(device)

    def forget(self, ids, share):
        """Which tokens are to be read by their letters alone although they may be known."""
        return self.is_word[ids] & (torch.rand(ids.shape, device=ids.device) < share)

    def look_up(self, ids, forgotten, drop_class=0.0):
        """(word rows, which are unknown, n-grams of those); what the lexicon says of a word is forgotten now and then."""
        word = self.rows[ids]
        unknown = (word < 0) | forgotten
        grams = torch.where(unknown.unsqueeze(-1), self.grams[ids], F.NGRAM_ROWS)
        if drop_class:
            place = (grams >= self.lexicon_base) & (grams < self.lexicon_base + F.LEX_CLASSES)
            forget = torch.rand(len(grams), 1, device=ids.device) < drop_class
            grams = torch.where(place & forget, self.lexicon_base, grams)
        return word.clamp(min=0), unknown, grams


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


def choose_vocabulary(words, streams, lexicon, common):
    """Known words, from tokens that are not names, counted as often as training draws them: {word: row}.

    The last places go to common words whose vector has to do, as our texts hold them seldom or never."""
    total, names = np.zeros(len(words) + 1), np.zeros(len(words) + 1)
    for group, (ids, _, tags, _) in streams.items():
        real = tags != 255
        weight = data.GROUPS[group] * data.WIDE.get(group, 1) * 1e8 / real.sum()
        total += weight * np.bincount(ids[real], minlength=len(total))
        names += weight * np.bincount(ids[real & (tags >= 1) & (tags <= 2)], minlength=len(total))
    chosen = {}
    for number in np.argsort(-(total - names), kind="stable"):
        if number == 0 or F.fixed_word_row(words[number - 1]) is not None:
            continue
        if len(chosen) >= VOCABULARY - BORROWED:
            break
        if names[number] <= 0.5 * total[number]:
            chosen[words[number - 1]] = F.WORD_BASE + len(chosen)
    for word in common:
        kind = lexicon.get(word, 0)
        is_plain = kind & 1 and kind >> 4 < 2 and kind >> 2 & 3 < 2
        if is_plain and word not in chosen and len(chosen) < VOCABULARY:
            chosen[word] = F.WORD_BASE + len(chosen)
    return chosen


class Batches:
    """Draws training rows from all groups, in changing case."""

    def __init__(self, streams, features, size, device):
        self.streams = {group: [torch.tensor(part, device=device) for part in parts] for group, parts in streams.items()}
        self.features, self.offsets = features, torch.arange(ROW, device=device)
        shares = {group: data.GROUPS[group] for group in data.GROUPS if group in streams}
        self.counts = {group: max(1, int(size * share / sum(shares.values()))) for group, share in shares.items()}
        self.harmless, self.foreign, self.made = (torch.cat([torch.full((count,), group in chosen, device=device) for group, count in self.counts.items()])
                                                  for chosen in (data.HARMLESS, data.FOREIGN, data.MADE))

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

    def learn_near(self, words, lexicon, vectors, device, count=8):
        """Finds the ordinary words whose vectors lie nearest to those of each ordinary word."""
        numbers = {word: number + 1 for number, word in enumerate(words)}

        def is_plain(word):
            kind = lexicon.get(word, 0)
            return word in numbers and len(word) > 2 and kind & 1 and kind >> 4 < 2 and kind >> 2 & 3 < 2
        chosen = [place for place, word in enumerate(vectors[0]) if place >= 60 and is_plain(word)]
        own = torch.tensor([numbers[vectors[0][place]] for place in chosen], device=device)
        table = nn.normalize(torch.tensor(vectors[1][chosen].astype(np.float32), device=device), dim=1)
        self.neighbours = torch.zeros(len(words) + 1, count, dtype=torch.long, device=device)
        for start in range(0, len(own), 4096):
            here = slice(start, start + 4096)
            near = (table[here] @ table.T).topk(count + 1, dim=1).indices[:, 1:]
            self.neighbours[own[here]] = own[near]

    def near(self, ids, contexts, tags, share):
        """Some ordinary words written small changed for words of like meaning: the same said otherwise."""
        if not share:
            return ids
        drawn = torch.rand(len(ids), 1, device=ids.device) * 2 * share
        place = torch.randint(0, self.neighbours.shape[1], ids.shape, device=ids.device)
        other = self.neighbours[ids, place]
        chosen = (tags == 0) & (contexts // 20 == 0) & (other > 0) & (torch.rand(ids.shape, device=ids.device) < drawn)
        return torch.where(chosen, other, ids)

    def swap(self, ids, tags, share):
        """Some ordinary words changed for others of the same batch, so that no single word decides."""
        if not share:
            return ids
        plain = (tags == 0) & (self.features.rows[ids] >= F.WORD_BASE)
        words = ids[plain]
        chosen = plain & (torch.rand(ids.shape, device=ids.device) < share)
        return torch.where(chosen, words[torch.randint(0, len(words), ids.shape, device=ids.device)], ids)


def refit_gate(network, batches, steps):
    """Fits the gate anew where it works: nearly all PHI passes, and of the rest plain words written small shall not."""
    network.eval()
    optimizer = torch.optim.Adam([network.gate, network.gate_bias], lr=4e-3)
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = 4e-3 * (1 - step / steps)
        ids, contexts, tags, _ = batches.draw()
        ids = batches.near(ids, contexts, tags, 0.05)
        with torch.no_grad():
            x = network.first(network.rows(batches.features, ids), contexts, ids != 0)
        gate = x @ quantise(network.gate, 128) + network.gate_bias
        real, is_phi = (tags != 255).float(), ((tags >= 1) & (tags <= 6)).float()
        weight = real * torch.where(is_phi > 0, 120.0, torch.where(contexts // 20 == 0, 2.0, 1.0))
        loss = nn.binary_cross_entropy_with_logits(gate, is_phi, weight, reduction="sum") / real.sum()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()


def set_gate(network, batches, recall):
    """Moves the gate's bias so that it lets `recall` of all PHI tokens through; says how much else passes."""
    network.eval()
    with torch.no_grad():
        def gates(groups=None):
            ids, contexts, tags, _ = batches.draw(groups)
            return network(network.rows(batches.features, ids), contexts, ids != 0)[2], tags
        phi = torch.cat([gate[(tags >= 1) & (tags <= 6)] for gate, tags in (gates() for _ in range(40))])
        network.gate_bias -= torch.quantile(phi[torch.randperm(len(phi), device=phi.device)[:1_000_000]].float(), 1 - recall)
        for group in batches.counts:
            gate, tags = gates([group])
            print(f"gate: {(gate[tags == 0] > 0).float().mean():.3f} of other tokens pass in {group}", flush=True)


def show_doubt(network, batches, doubt):
    """How much the narrow layers leave to the wide ones."""
    network.eval()
    with torch.no_grad():
        for group in batches.counts:
            ids, contexts, tags, _ = batches.draw([group])
            scores, _, gate = network(network.rows(batches.features, ids), contexts, ids != 0)
            lead = scores[..., 1:7].max(-1).values - scores[..., 0]
            asked = (gate > 0) & (lead >= doubt[0]) & (lead < doubt[1])
            print(f"in doubt: {asked[tags != 255].float().mean():.4f} of the tokens in {group}", flush=True)


def to_model(network, features, vocabulary, lexicon, o_bias):
    """The integer model."""
    def integers(value, scale):
        return torch.clamp(torch.round(value.detach().float().cpu() * scale), -127, 127).to(torch.int8).numpy()

    def steps(bias):
        return torch.round(bias.detach().cpu() * 2048).int().numpy()

    with torch.no_grad():
        words = network.known_rows(features)
    gate = integers(network.gate, 128), int(torch.floor(network.gate_bias.detach().cpu() * 2048)) + 1
    used = 1 + max(vocabulary.values())
    output_bias = steps(network.output_bias)
    output_bias[0] += int(round(o_bias * 2048))
    def layers(dilations, weights, biases):
        # Inputs in tap order: [out, in, tap] becomes [out, tap * inputs + in].
        return [(dilation, integers(weight, 128).transpose(0, 2, 1).reshape(len(weight), -1), steps(bias)) for dilation, weight, bias in zip(dilations, weights, biases)]
    rest = {word: kind for word, kind in lexicon.items() if word not in vocabulary}
    model = export.Model(integers(words, 32)[:used], integers(network.grams, 32)[:F.NGRAM_ROWS], integers(network.contexts, 32), gate,
                         layers(network.dilations, network.convs, network.biases), (integers(network.output, 128), output_bias), vocabulary, rest)
    model.wide = layers(network.wide_dilations, network.wide, network.wide_biases)
    model.wide_output = integers(network.wide_output, 128), steps(network.wide_output_bias)
    return model


def arrays(args, lists, documents):
    """Training tokens; made once where several trainings share a folder for them."""
    if args.arrays and (args.arrays / "words.json").exists():
        loaded = {path.stem: np.load(path) for path in sorted(args.arrays.glob("*.npz"))}
        spelled = loaded.pop("spelled")
        streams = {group: [file[key] for key in ("ids", "contexts", "tags", "masks")] for group, file in loaded.items()}
        return json.loads((args.arrays / "words.json").read_text()), streams, (spelled["fixed"], spelled["grams"])
    left_out = set(filter(None, args.leave_out.split(",")))
    training = [d for d in documents if not data.is_evaluation(d) and d[0] not in left_out]
    pieces, _ = data.load_material(args.work / "material.json.gz")
    words, streams = data.training_arrays(lists, training, pieces, args.documents, args.seed, args.workers)
    held = readers.held_words(d for d in documents if d[0].startswith("held"))
    words += sorted(held - set(words))
    fixed, grams = spell_all(words, lists["lexicon"], args.workers)
    if args.arrays:
        args.arrays.mkdir(parents=True, exist_ok=True)
        np.savez(args.arrays / "spelled.npz", fixed=fixed, grams=grams)
        for group, (ids, contexts, tags, masks) in streams.items():
            np.savez(args.arrays / f"{group}.npz", ids=ids, contexts=contexts, tags=tags, masks=masks)
        (args.arrays / "words.json").write_text(json.dumps(words))
    return words, streams, (fixed, grams)


def known_words(words, model):
    """The vocabulary of a model that was written before, as far as its words occur: {word: row}."""
    rows = ((word, model.vocabulary.get(word)) for word in words if F.fixed_word_row(word) is None)
    return {word: row for word, row in rows if row and row < F.WORD_BASE + VOCABULARY}


def train(args, device):
    """[(share, model)], the lists and the documents: one model, or one for each share of the new in the old weights."""
    started = time.time()
    lists = generate.load_lists(args.work / "lists.json.gz")
    documents = data.load(args.work / "corpora.json.gz")
    words, streams, spelled = arrays(args, lists, documents)
    vectors = np.load(args.work / "vectors.npz")
    vectors = vectors["words"].tolist(), vectors["vectors"] if args.vectors else vectors["vectors"] * 0
    before = export.read(args.go_on) if args.go_on else None
    vocabulary = known_words(words, before) if before else choose_vocabulary(words, streams, lists["lexicon"], vectors[0])
    print(f"{len(words)} words, vocabulary {len(vocabulary)}, tokens", {g: len(s[0]) for g, s in streams.items()}, f"{time.time() - started:.0f} s", flush=True)
    features = Features(words, vocabulary, lists["lexicon"], spelled, vectors, device)
    torch.manual_seed(args.seed)
    batches = Batches(streams, features, args.batch, device)
    batches.learn_near(words, lists["lexicon"], vectors, device)
    network = Network(features.vectors, args.dilations, args.wide, args.dropout).to(device)
    if before:
        go_on_from(network, before, features)
    teachers = None
    if args.teachers:
        def network_of(model):
            network = Network(torch.zeros(len(model.words), 1), [dilation for dilation, _, _ in model.convs], [dilation for dilation, _, _ in model.wide], 0.0)
            bare = collections.namedtuple("Bare", "known")(torch.full((len(model.words), 1), F.NGRAM_ROWS))
            go_on_from(network, model, bare)
            return network
        teachers = distil.Teachers(args.teachers, words, features, network_of, args.workers, device)
        print(f"{len(args.teachers)} teachers ready {time.time() - started:.0f} s", flush=True)
    pool = None
    if args.pool and not args.readers:
        pool = distil.Pool(args, batches, [], None, device)
        print(f"{pool.size} rows at hand {time.time() - started:.0f} s", flush=True)
    elif args.readers:
        judges = [readers.load_reader(path, words, lists["lexicon"], device) for path in args.readers]
        pool = distil.Pool(args, batches, judges, teachers, device)
        show_held(documents, words, judges, device)
        del judges
        teachers = None
        print(f"{pool.size} rows judged {time.time() - started:.0f} s", flush=True)
    old = {key: value.detach().clone() for key, value in network.state_dict().items()}
    ends = []
    for run in range(args.runs):
        torch.manual_seed(args.seed + run)
        network.load_state_dict(old)
        network.train()
        ends.append(one_run(args, network, features, batches, pool, teachers, device, started))
    new = {key: sum(end[key] for end in ends) / len(ends) for key in old}
    models = []
    for share in args.shares if before else [1.0]:
        network.load_state_dict({key: torch.lerp(old[key], new[key], share) for key in old})
        if not args.frozen:
            set_gate(network, batches, args.gate_recall)
            if args.refit_gate:
                refit_gate(network, batches, args.refit_gate)
                set_gate(network, batches, args.gate_recall)
        models.append((share, to_model(network, features, vocabulary, lists["lexicon"], args.o_bias)))
        models[-1][1].doubt = tuple(int(lead * 2048) for lead in args.doubt)
        show_doubt(network, batches, args.doubt)
    return models, lists, documents


def loss_of(scores, tags, masks, allowed, phi_weight):
    """How wrong the tags are, over the tokens that are to be learned from."""
    real = (tags != 255).float()
    gold, scores = torch.where(tags == 255, 0, tags), scores[..., :len(F.TAGS)]
    right = allowed[gold, masks][..., :len(F.TAGS)]
    losses = torch.logsumexp(scores, -1) - torch.logsumexp(scores.masked_fill(~right, -1e4), -1)
    is_phi = ((gold >= 1) & (gold <= 6)).float()
    weight = (1 + (phi_weight - 1) * is_phi) * real
    return (losses * weight).sum() / weight.sum()


def gate_loss(gate, tags):
    """The gate may hold back next to nothing of what counts: opening at a plain word costs time alone."""
    real, is_phi = (tags != 255).float(), ((tags >= 1) & (tags <= 6)).float()
    return nn.binary_cross_entropy_with_logits(gate, is_phi, (1 + 11 * is_phi) * real, reduction="sum") / real.sum()


def show_held(documents, words, judges, device):
    """What the teachers know about texts that are only measured on."""
    numbers = {word: number + 1 for number, word in enumerate(words)}
    opinions = [readers.opinion_of(judge) for judge in judges]

    def mean(ids, contexts):
        return sum(opinion(ids, contexts) for opinion in opinions) / len(opinions)
    for name in sorted({d[0] for d in documents if d[0].startswith("held")}):
        print("readers together,", name, readers.judge(mean, [d for d in documents if d[0] == name], numbers, device), flush=True)


def one_run(args, network, features, batches, pool, teachers, device, started):
    """Trains, and returns the running average of the weights."""
    average = {key: value.detach().clone() for key, value in network.state_dict().items()}
    decays = {"convs": 0.01, "wide": 0.01, "output": 0.01, "gate": 0.01, "words": args.word_decay}
    groups = [{"params": [p], "weight_decay": decays.get(name.split(".")[0].split("_")[0], 0.0), "pace": 1.0 if name.startswith("wide") else args.narrow_pace}
              for name, p in network.named_parameters() if not args.frozen or name.startswith("wide")]
    optimizer = torch.optim.AdamW(groups, lr=args.rate, betas=(0.9, 0.98), fused=device == "cuda")
    allowed = allowed_tags(device)

    def run(rows, contexts, real, tags, masks, opinion):
        narrow, wide, gate = network(rows, contexts, real, args.frozen)
        told = [wide] if args.frozen else [narrow, wide] if args.wide else [narrow]
        losses = [loss_of(scores, tags, masks, allowed, args.phi_weight) for scores in told]
        loss = sum(losses) + (0 if args.frozen else 0.2 * gate_loss(gate, tags))
        if opinion is None:
            return loss
        loss = args.label_share * loss
        # Nobody has an opinion on what was cut off.
        learned = real.float() * (opinion.sum(-1) > 0.5)
        for scores in told:
            apart = (opinion * (torch.log(opinion + 1e-6) - torch.log_softmax(scores[..., :len(F.TAGS)], -1))).sum(-1)
            loss = loss + (apart * learned).sum() / learned.sum()
        return loss

    def judge(teacher, rows, contexts, real):
        return teacher(rows, contexts, real)[1]

    if device == "cuda":
        run, judge = torch.compile(run), torch.compile(judge)
    training_started = time.time()
    seconds = min(args.seconds, args.until - training_started)
    for step in range(args.steps):
        progress = max(step / args.steps, (time.time() - training_started) / seconds)
        if progress >= 1:
            print(f"out of time after {step} steps", flush=True)
            break
        rate = args.rate * min(1, (step + 1) / 200) * (0.5 * (1 + np.cos(np.pi * progress)) * 0.98 + 0.02)
        for group in optimizer.param_groups:
            group["lr"] = rate * group["pace"]
        opinion = None
        if pool and step % args.fresh:
            ids, contexts, tags, masks, opinion = pool.draw()
        else:
            ids, contexts, tags, masks = batches.draw()
            ids = batches.near(batches.swap(ids, tags, args.swap_word), contexts, tags, args.near_word)
        if teachers:
            # Rows drawn from all groups, as these come one after the other.
            order = torch.randperm(len(ids), device=device)
            ids, contexts, tags, masks = ids[order], contexts[order], tags[order], masks[order]
            blended = int(args.blend * len(ids))
            ids, contexts = distil.blend(ids, contexts, blended, 0.02 + 0.2 * random.random())
            tags[:blended] = 255
            opinion = teachers.opinion(judge, ids, contexts)
        with torch.set_grad_enabled(not args.frozen):
            rows = network.rows(features, ids, features.forget(ids, args.drop_word), args.drop_class)
        loss = run(rows, contexts, ids != 0, tags, masks, opinion)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        with torch.no_grad():
            decay = min(0.998, (step + 1) / (step + 10))
            torch._foreach_lerp_(list(average.values()), [v.detach() for v in network.state_dict().values()], 1 - decay)
        if step % 1000 == 0 or step == args.steps - 1:
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
    parser.add_argument("--until", type=float, default=1e12, help="a time in seconds since 1970 by which training ends")
    parser.add_argument("--rate", type=float, default=3e-3)
    parser.add_argument("--dropout", type=float, default=0.0)
    parser.add_argument("--drop-word", type=float, default=0.12)
    parser.add_argument("--drop-class", type=float, default=0.22)
    parser.add_argument("--swap-word", type=float, default=0.0)
    parser.add_argument("--word-decay", type=float, default=0.03, help="how fast what a word has of its own is forgotten")
    parser.add_argument("--no-vectors", dest="vectors", action="store_false")
    parser.add_argument("--phi-weight", type=float, default=1.0)
    parser.add_argument("--gate-recall", type=float, default=0.9997)
    parser.add_argument("--o-bias", type=float, default=0.0)
    parser.add_argument("--dilations", type=lambda text: [int(part) for part in text.split(",")], default=[1, 2, 4, 8])
    parser.add_argument("--wide", type=lambda text: [int(part) for part in text.split(",")], default=[1, 2, 4, 8], help="dilations of the wide layers")
    parser.add_argument("--frozen", action="store_true", help="only the wide layers learn; with --go-on")
    parser.add_argument("--narrow-pace", type=float, default=1.0, help="how fast all but the wide layers learn beside them")
    parser.add_argument("--doubt", type=lambda text: [float(part) for part in text.split(",")], default=[-2.5, 5.0], help="leads of PHI over nothing, by the narrow layers, between which the wide ones are asked")
    parser.add_argument("--leave-out", default="")
    parser.add_argument("--arrays", type=pathlib.Path, help="folder to keep the training tokens in, for several trainings")
    parser.add_argument("--only-arrays", action="store_true")
    parser.add_argument("--short-report", action="store_true")
    parser.add_argument("--go-on", type=pathlib.Path, help="weights to go on from, with their vocabulary")
    parser.add_argument("--runs", type=int, default=1, help="trainings whose weights are averaged; only where they start from the same weights")
    parser.add_argument("--shares", type=lambda text: [float(part) for part in text.split(",")], default=[1.0], help="how much of the new weights to mix into the old ones; one file each")
    parser.add_argument("--teachers", type=lambda text: text.split(","), help="weights whose mean opinion counts beside the labels")
    parser.add_argument("--readers", type=lambda text: text.split(","), help="fine-tuned language models (readers.py) whose mean opinion counts beside the labels")
    parser.add_argument("--teachers-count", type=float, default=0.25, help="with readers and teachers: what the teachers count beside the readers")
    parser.add_argument("--pool", type=pathlib.Path, help="file of judged rows, for several trainings: written with readers, waited for and read without")
    parser.add_argument("--pool-seconds", type=float, default=100, help="with readers: how long rows are judged before training")
    parser.add_argument("--pool-rows", type=int, default=1_000_000)
    parser.add_argument("--fresh", type=int, default=4, help="with readers: every so many steps is of rows that they have not judged, by labels alone")
    parser.add_argument("--refit-gate", type=int, default=600, help="steps in which the gate alone is fitted at the end")
    parser.add_argument("--label-share", type=float, default=0.5, help="with teachers or readers: what the labels count")
    parser.add_argument("--near-word", type=float, default=0.0, help="share of ordinary words changed for words of like meaning")
    parser.add_argument("--blend", type=float, default=0.3, help="with teachers: share of rows without labels, mixed from several texts")
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
    texts = gates.training_texts(args.work, args.seed)
    for share, model in models:
        gates.fit(model, texts)
        end = "" if len(models) == 1 else f"_{share:g}"
        model.write(args.out / f"weights{end}.bin")  # before it is measured, which takes a while
        report = evaluate.measure(model, lists, documents, held, args.workers, args.short_report)
        model.confidence = np.array([report["calibration"][kind]["table"] for kind in export.REPORTED])
        size = model.write(args.out / f"weights{end}.bin")
        print(f"weights{end}.bin {size} bytes", flush=True)
        (args.out / f"report{end}.json").write_text(json.dumps(report, indent=1))
        export.write_golden(model, evaluate.golden_texts(lists), args.out / f"golden{end}.tsv")
        evaluate.show(report)


if __name__ == "__main__":
    main()
