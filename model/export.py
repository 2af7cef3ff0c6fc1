"""Writes the weights file that the detector embeds, and runs the same integer model in numpy.

Layout: see `crates/phi-detect/src/names/weights.rs`.
"""

import struct

import numpy as np

import features as F

MAGIC = b"PHGNAME6"
WIDTH, WIDE, TAGS_MAX, LAYERS_MAX = 64, 128, 16, 6
# Tokens on either side of one that the screen looks at, and its units.
AROUND, UNITS = 2, 16
# Steps of the confidence tables, half a unit of lead each.
STEPS, STEP_BITS = 21, 10
# Reported kinds: code, and the fewest bytes to believe, as in decode.rs.
REPORTED = {"NAME": ("name", 2), "ADDRESS": ("address", 5), "DOB": ("dob", 3)}


class Model:
    """Integer weights plus the word lists: all there is to the model.

    words/grams/contexts: int8 [rows, 192]; gate: int8 [64], int; convs: list of (dilation, int8 [64, 192],
    int32 [64]); output: int8 [16, 64], int32 [16]; vocabulary: {word: row}; lexicon: {word: class};
    screen: int8 [16, 320], int32 [16], int8 [16], int: who is left of those that pass the gate;
    gates: one like `gate` after each of the convs but the last. Screen and gates are wide open until gates.py has fitted them;
    wide, wide_output: as convs and output, 128 wide; doubt: between which leads of a reported tag over "nothing" the
    wide layers are asked; confidence: percent right [reported kinds, STEPS], filled in once measured.
    """

    def __init__(self, words, grams, contexts, gate, convs, output, vocabulary, lexicon):
        self.words, self.grams, self.contexts, self.gate = words, grams, contexts, gate
        self.convs, self.output = convs, output
        self.gates = [(np.zeros(WIDTH, np.int8), 1) for _ in convs[1:]]
        self.screen = np.zeros((UNITS, (2 * AROUND + 1) * WIDTH), np.int8), np.zeros(UNITS, np.int32), np.zeros(UNITS, np.int8), 1
        self.vocabulary, self.lexicon, self.packed_words = vocabulary, lexicon, None
        self.wide, self.wide_output, self.doubt = [], (np.zeros((TAGS_MAX, WIDE), np.int8), np.zeros(TAGS_MAX, np.int32)), (0, 0)
        self.confidence = np.full((len(REPORTED), STEPS), 50, np.uint8)

    def row(self, token):
        """Row sum of a token's word or n-grams (as in token.rs)."""
        row = F.fixed_word_row(token)
        if row is None:
            folded = F.fold(token)
            row = self.vocabulary.get(folded)
            if row is None:
                rows = F.ngram_rows(folded, self.lexicon.get(folded, 0))
                return self.grams[rows].astype(np.int32).sum(0)
        return self.words[row].astype(np.int32)

    def first(self, text):
        """Token spans, and the first layer [tokens, 64]."""
        spans, contexts = F.tokenize(text)
        count = len(spans)
        sums = np.zeros((count + 2, 3 * WIDTH), np.int32)
        sums[[0, -1]] = self.words[0].astype(np.int32) + self.contexts[0]
        for place, ((start, end), context) in enumerate(zip(spans, contexts)):
            sums[place + 1] = self.row(text[start:end]) + self.contexts[context]
        total = sums[:-2, :WIDTH] + sums[1:-1, WIDTH:2 * WIDTH] + sums[2:, 2 * WIDTH:]
        return spans, np.clip((total + 1) >> 1, 0, 127)

    def scores(self, text):
        """Token spans, int scores [tokens, 16] and which tokens all gates let through, small gaps between them included."""
        spans, first = self.first(text)
        passed = passing(first, self.gate)
        wanted = passed & with_those_beside(passed & screened(first, self.screen))
        *lower, top = layers_of(first, self.convs)
        for x, gate in zip(lower, self.gates):
            wanted &= passing(x, gate)
        wanted = ~with_those_beside(~with_those_beside(wanted))  # gaps of one or two are filled
        scores = scored(top, self.output)
        lead = lead_of(scores)
        doubtful = wanted & (self.doubt[0] <= lead) & (lead < self.doubt[1])
        doubtful = wanted & with_those_beside(doubtful)
        if doubtful.any():
            scores[doubtful] += scored(layers_of(first, self.wide)[-1], self.wide_output)[doubtful]
        return spans, scores, wanted

    def find(self, text):
        """Spans (start, end, type) by code points, as the detector would find them."""
        return [span[:3] for span in self.decode(text, *self.scores(text))]

    def decode(self, text, spans, scores, wanted, o_bias=0):
        """Spans (start, end, type, mean lead of the tags over "nothing"); `o_bias` makes "nothing" likelier."""
        scores = scores.copy()
        scores[:, 0] += int(o_bias * 2048)
        found, run = [], []
        for place in range(len(spans) + 1):
            if place < len(spans) and wanted[place]:
                run.append(place)
            elif run:
                tags = viterbi(scores[run])
                leads = {spans[i]: int(scores[i][tag] - scores[i][0]) for i, tag in zip(run, tags)}
                for start, end, kind in F.spans_of([spans[i] for i in run], tags):
                    if kind in REPORTED and len(text[start:end].encode()) < REPORTED[kind][1]:
                        continue
                    own = [lead for (s, e), lead in leads.items() if start <= s and e <= end]
                    found.append((start, end, kind, sum(own) // len(own)))
                run = []
        return found

    def write(self, path):
        lexicon_bits, vocabulary_bits = 15, 15
        dilations = [dilation for dilation, _, _ in self.convs]
        out = bytearray(MAGIC)
        out += struct.pack(
            f"<{7 + LAYERS_MAX}I", len(self.words), len(self.grams), len(self.contexts), len(self.convs), vocabulary_bits,
            lexicon_bits, len(self.lexicon), *(dilations + [0] * (LAYERS_MAX - len(dilations))),
        )
        dilations = [dilation for dilation, _, _ in self.wide]
        out += struct.pack(f"<{2 + LAYERS_MAX}I2i", WIDE // WIDTH, len(dilations), *(dilations + [0] * (LAYERS_MAX - len(dilations))), *self.doubt)
        for start, end in F.FOLD_RANGES:
            for code in range(start, end):
                folded = F.FOLDS.get(code)
                out.append(ord(folded) | (0x80 if chr(code) in F.UPPER else 0) if folded else 0)
        for table in (self.words, self.grams, self.contexts):
            out += table.astype(np.int8).tobytes()
        for weight, bias in [self.gate, *self.gates]:
            out += weight.astype(np.int8).tobytes() + struct.pack("<i", bias)
        units, units_bias, weight, bias = self.screen
        out += dense_section(units, units_bias) + weight.astype(np.int8).tobytes() + struct.pack("<i", bias)
        # Wide layers are written in parts of as many outputs as narrow ones have.
        wide = [(w[part:part + WIDTH], b[part:part + WIDTH]) for _, w, b in self.wide for part in range(0, WIDE, WIDTH)]
        for weight, bias in [(w, b) for _, w, b in self.convs] + [self.output] + wide + [self.wide_output]:
            out += dense_section(weight, bias)
        out += self.confidence.astype(np.uint8).tobytes()
        out += self.packed_words or vocabulary_section(self.vocabulary, vocabulary_bits) + lexicon_section(self.lexicon, lexicon_bits)
        out += struct.pack("<Q", F.hash_word(out))
        with open(path, "wb") as file:
            file.write(out)
        return len(out)


class Hashed:
    """Words that a weights file knows by their hashes alone: asked like a dictionary."""

    def __init__(self, look_up, count):
        self.look_up, self.count = look_up, count

    def __len__(self):
        return self.count

    def get(self, word, default=None):
        found = self.look_up(F.hash_word(word.encode()))
        return default if found is None else found


def read(path):
    """The model in a weights file, to go on from or to write again; `vocabulary` and `lexicon` can be asked but not listed."""
    with open(path, "rb") as file:
        data = file.read()
    place = len(MAGIC)

    def take(kind, count):
        nonlocal place
        values = np.frombuffer(data, kind, count, place)
        place += values.nbytes
        return values
    words, grams, contexts, layers, vocabulary_bits, lexicon_bits, entries, *dilations = (int(n) for n in take("<u4", 7 + LAYERS_MAX))
    parts, wide_layers, *wide_dilations = (int(n) for n in take("<u4", 2 + LAYERS_MAX))
    doubt = tuple(int(n) for n in take("<i4", 2))
    take(np.uint8, sum(end - start for start, end in F.FOLD_RANGES))
    tables = [take(np.int8, rows * 3 * WIDTH).reshape(rows, 3 * WIDTH) for rows in (words, grams, contexts)]
    gate, *gates = [(take(np.int8, WIDTH), int(take("<i4", 1)[0])) for _ in range(layers)]

    def dense(outputs, inputs):
        weight = take(np.int8, outputs * inputs).reshape(inputs // 4, outputs, 4).transpose(1, 0, 2).reshape(outputs, inputs)
        return weight, take("<i4", outputs)
    screen = *dense(UNITS, (2 * AROUND + 1) * WIDTH), take(np.int8, UNITS), int(take("<i4", 1)[0])
    convs = [(dilation, *dense(WIDTH, 3 * WIDTH)) for dilation in dilations[:layers]]
    output = dense(TAGS_MAX, WIDTH)
    wide = []
    for dilation in wide_dilations[:wide_layers]:
        own = [dense(WIDTH, 3 * (WIDE if wide else WIDTH)) for _ in range(parts)]
        wide.append((dilation, np.concatenate([weight for weight, _ in own]), np.concatenate([bias for _, bias in own])))
    wide_output = dense(TAGS_MAX, WIDE)
    confidence = take(np.uint8, len(REPORTED) * STEPS).reshape(-1, STEPS)
    words_from = place
    slots = take(np.dtype([("key", "<u4"), ("row", "<u2"), ("", "<u2")]), 1 << vocabulary_bits)
    starts = take("<u4", (1 << lexicon_bits) + 1)
    prints, kinds = take("<u2", entries), take(np.uint8, entries)

    def row_of(value):
        slot = value & (len(slots) - 1)
        while slots[slot]["row"]:
            if slots[slot]["key"] == value >> 32:
                return int(slots[slot]["row"])
            slot = (slot + 1) & (len(slots) - 1)
        return None

    def kind_of(value):
        bucket = value & (len(starts) - 2)
        found = np.flatnonzero(prints[starts[bucket]:starts[bucket + 1]] == value >> 48)
        return int(kinds[starts[bucket] + found[0]]) if len(found) else None
    model = Model(*tables, gate, convs, output, Hashed(row_of, words), Hashed(kind_of, entries))
    model.packed_words = data[words_from:place]
    model.screen, model.gates, model.confidence, model.wide, model.wide_output, model.doubt = screen, gates, confidence, wide, wide_output, doubt
    return model


def passing(x, gate):
    """Which rows of activations a gate lets through."""
    return x @ gate[0].astype(np.int32) + gate[1] > 0


def around(first):
    """The rows of each token and of those around it, side by side [tokens, 5 * 64]."""
    padded = np.zeros((len(first) + 2 * AROUND, first.shape[1]), first.dtype)
    padded[AROUND:AROUND + len(first)] = first
    return np.concatenate([padded[place:place + len(first)] for place in range(2 * AROUND + 1)], 1)


def screen_sums(rows, units, bias, weight):
    """What the screen says of rows of tokens and those around them, before its own bias."""
    return (np.maximum(product(rows, units) + bias, 0) >> 7) @ weight.astype(np.int32)


def screened(first, screen):
    """Which tokens of a first layer the screen lets through."""
    *weights, bias = screen
    return screen_sums(around(first), *weights) + bias > 0


def with_those_beside(tokens):
    """These tokens and the ones on either side of them."""
    around = np.concatenate([[False], tokens, [False]])
    return tokens | around[:-2] | around[2:]


def lead_of(scores):
    """By how much the best tag of a reported kind leads over "nothing"."""
    return scores[:, 1:1 + 2 * len(REPORTED)].max(1, initial=-(1 << 30)) - scores[:, 0]


def layers_of(x, layers):
    """The activations of a stack of layers over the first one, layer by layer."""
    count, above = len(x), []
    for dilation, weight, bias in layers:
        padded = np.zeros((count + 2 * dilation, x.shape[1]), np.int32)
        padded[dilation:dilation + count] = x
        taps = np.concatenate([padded[:count], x, padded[2 * dilation:]], 1)
        total = product(taps, weight) + bias + (np.tile(x, len(bias) // x.shape[1]) << 7)
        x = np.clip((total + 64) >> 7, 0, 127)
        above.append(x)
    return above


def scored(x, output):
    """The tag scores of rows of activations."""
    weight, bias = output
    return product(x, weight) + bias


def product(values, weight):
    """An integer product by way of float32, which holds every partial sum here exactly."""
    return (values.astype(np.float32) @ weight.astype(np.float32).T).astype(np.int32)


def dense_section(weight, bias):
    outputs, inputs = weight.shape
    return weight.astype(np.int8).reshape(outputs, inputs // 4, 4).transpose(1, 0, 2).tobytes() + bias.astype("<i4").tobytes()


def vocabulary_section(vocabulary, bits):
    slots = [(0, 0)] * (1 << bits)
    for word, row in vocabulary.items():
        value = F.hash_word(word.encode())
        slot = value & (len(slots) - 1)
        while slots[slot][1]:
            slot = (slot + 1) & (len(slots) - 1)
        slots[slot] = (value >> 32, row)
    return b"".join(struct.pack("<IHH", key, row, 0) for key, row in slots)


def lexicon_section(lexicon, bits):
    buckets = [[] for _ in range(1 << bits)]
    for word, kind in sorted(lexicon.items()):
        value = F.hash_word(word.encode())
        buckets[value & (len(buckets) - 1)].append((value >> 48, kind))
    starts = np.cumsum([0] + [len(bucket) for bucket in buckets]).astype("<u4")
    prints = np.array([key for bucket in buckets for key, _ in bucket], "<u2")
    kinds = np.array([kind for bucket in buckets for _, kind in bucket], np.uint8)
    return starts.tobytes() + prints.tobytes() + kinds.tobytes()


def viterbi(scores):
    """Best tags in which I-X follows only B-X or I-X; ties go to the lower tag, as in decode.rs."""
    states = len(F.TAGS)
    total = [0] + [-(1 << 60)] * (states - 1)
    back = []
    for row in scores:
        best = total.index(max(total))
        source = [best] * states
        for state in range(2, states, 2):
            source[state] = state - 1 if total[state - 1] >= total[state] else state
        total = [total[source[state]] + int(row[state]) for state in range(states)]
        back.append(source)
    state = total.index(max(total))
    tags = []
    for source in reversed(back):
        tags.append(state)
        state = source[state]
    return tags[::-1]


def write_golden(model, texts, path):
    """Texts with the spans the detector must find: byte offsets, reported kinds only."""
    with open(path, "w") as file:
        for text in texts:
            spans = [
                f"{len(text[:start].encode())}-{len(text[:end].encode())}:{REPORTED[kind][0]}"
                for start, end, kind in model.find(text) if kind in REPORTED
            ]
            file.write(text.replace("\n", "\\n") + "\t" + " ".join(spans) + "\n")
