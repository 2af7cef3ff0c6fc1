"""Readers: pretrained language models that learn the task first, as teachers of the name model.

    python3 readers.py --work work --arrays arrays --weights reader.npz --tokenizer tokenizer.json --out reader.pt --seconds 200

They see what the name model sees (folded words, case, white space, class in the lexicon), so a text that was
changed on the way to the one is changed for the other too. Nothing of them is in the weights that are shipped.
`reader.npz` holds a BERT-like encoder as int8 with scales; MODEL_CARD.md says which ones were used.
"""

import argparse
import multiprocessing
import pathlib
import time

import numpy as np
import torch
import torch.nn.functional as nn

import data
import export
import features as F
import generate

PIECES, LENGTH = 4, 432
TAGS = len(F.TAGS)
# Case of a token by its shape: as it is, with a capital, in capitals.
CASE_OF_SHAPE = [0, 1, 2, 2, 1, 0]
STATE = {}


def start(tokenizer):
    from tokenizers import Tokenizer
    STATE["tokenizer"] = Tokenizer.from_file(str(tokenizer))
    STATE["space"] = " " if "Ġthe" in STATE["tokenizer"].get_vocab() else ""


def spell(words):
    """[words, cases, PIECES]: the pieces of each word, -1 where there are fewer."""
    forms = [form for word in words for form in (word, word[:1].upper() + word[1:], word.upper())]
    told = STATE["tokenizer"].encode_batch([STATE["space"] + form for form in forms], add_special_tokens=False)
    table = np.full((len(forms), PIECES), -1, np.int32)
    for number, one in enumerate(told):
        ids = one.ids
        ids = ids if len(ids) <= PIECES else ids[:PIECES - 1] + ids[-1:]
        table[number, :len(ids)] = ids
    return table.reshape(len(words), 3, PIECES)


def pieces_of(words, tokenizer, workers):
    """The pieces of all words in all cases; row 0 is the gap between documents."""
    parts = [words[at:at + 10_000] for at in range(0, len(words), 10_000)]
    with multiprocessing.Pool(workers, start, (tokenizer,)) as pool:
        table = np.concatenate(pool.map(spell, parts, chunksize=2))
    start(tokenizer)
    gap = next(number for number in map(STATE["tokenizer"].token_to_id, ("[SEP]", "</s>")) if number is not None)
    first = np.full((1, 3, PIECES), -1, np.int32)
    first[:, :, 0] = gap
    table[table[:, :, 0] < 0, 0] = gap
    return np.concatenate([first, table])


class Layer(torch.nn.Module):
    def __init__(self, size, inner):
        super().__init__()
        self.qkv, self.ao = torch.nn.Linear(size, 3 * size), torch.nn.Linear(size, size)
        self.f1, self.f2 = torch.nn.Linear(size, inner), torch.nn.Linear(inner, size)
        self.aln, self.fln = torch.nn.LayerNorm(size, eps=1e-12), torch.nn.LayerNorm(size, eps=1e-12)

    def forward(self, x, mask, heads, dropout):
        batch, length, size = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, heads, size // heads).permute(2, 0, 3, 1, 4)
        told = nn.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=dropout)
        x = self.aln(x + nn.dropout(self.ao(told.transpose(1, 2).reshape(batch, length, size)), dropout))
        return self.fln(x + nn.dropout(self.f2(nn.gelu(self.f1(x))), dropout))


class Reader(torch.nn.Module):
    """A BERT-like encoder with a tag for each of our tokens at its first piece."""

    def __init__(self, weights, pieces, classes):
        super().__init__()
        names = list(weights)
        size, self.heads, self.offset = weights["pos"].shape[1], int(weights["heads"]), int(weights["offset"])
        layers = 1 + max(int(name[1]) for name in names if name[0] == "l")
        self.word = torch.nn.Embedding(*weights["word"].shape)
        self.pos = torch.nn.Embedding(*weights["pos"].shape)
        self.eln = torch.nn.LayerNorm(size, eps=1e-12)
        self.layers = torch.nn.ModuleList([Layer(size, len(weights["l0.f1.b"])) for _ in range(layers)])
        self.contexts, self.classes = torch.nn.Embedding(F.CONTEXTS, size), torch.nn.Embedding(F.LEX_CLASSES + 1, size)
        self.head = torch.nn.Linear(size, TAGS)
        for table in (self.contexts, self.classes):
            torch.nn.init.zeros_(table.weight)
        self.load(weights)
        self.register_buffer("pieces", torch.as_tensor(pieces), persistent=False)
        self.register_buffer("class_of", torch.as_tensor(classes), persistent=False)
        self.register_buffer("case", torch.tensor(CASE_OF_SHAPE), persistent=False)

    def load(self, weights):
        def table(name):
            scales = weights[name + "/s"] if name + "/s" in weights else 1
            return torch.tensor(np.asarray(weights[name], np.float32) * scales)
        with torch.no_grad():
            self.word.weight.copy_(table("word"))
            self.pos.weight.copy_(table("pos"))
            self.eln.weight.copy_(table("eln.w"))
            self.eln.bias.copy_(table("eln.b"))
            for number, layer in enumerate(self.layers):
                for part in ("qkv", "ao", "aln", "f1", "f2", "fln"):
                    getattr(layer, part).weight.copy_(table(f"l{number}.{part}.w"))
                    getattr(layer, part).bias.copy_(table(f"l{number}.{part}.b"))

    def forward(self, ids, contexts, dropout=0.0, hidden=None):
        """Scores [B,T,TAGS] and which tokens were read: a row with very many pieces is cut."""
        batch, width = ids.shape
        pieces = self.pieces[ids, self.case[contexts // 20]].long()
        count = (pieces >= 0).sum(-1)
        begin = count.cumsum(1) - count
        place = begin.unsqueeze(-1) + torch.arange(PIECES, device=ids.device)
        place = torch.where((pieces >= 0) & (place < LENGTH), place, LENGTH).view(batch, -1)

        def laid(values, empty):
            room = torch.full((batch, LENGTH + 1), empty, dtype=torch.long, device=ids.device)
            return room.scatter_(1, place, values.reshape(batch, -1))[:, :LENGTH]

        def spread(values):
            return values.unsqueeze(-1).expand(-1, -1, PIECES)
        text = laid(pieces.clamp(min=0), 0)
        document = laid(spread((ids == 0).cumsum(1)), -1)
        shape, kind = laid(spread(contexts), 0), laid(spread(self.class_of[ids]), 0)
        if self.training:
            kind = torch.where(torch.rand(kind.shape, device=ids.device) < 0.35, 0, kind)
        x = self.word(text) + self.pos.weight[self.offset:self.offset + LENGTH] + self.contexts(shape) + self.classes(kind)
        if hidden is not None:
            x = x * (torch.rand(x.shape[:2], device=x.device) >= hidden).unsqueeze(-1)
        x = nn.dropout(self.eln(x), dropout)
        mask = (document.unsqueeze(1) == document.unsqueeze(2)).unsqueeze(1)
        for layer in self.layers:
            x = layer(x, mask, self.heads, dropout)
        at = begin.clamp(max=LENGTH - 1).unsqueeze(-1).expand(-1, -1, x.shape[-1])
        return self.head(x.gather(1, at)), (begin < LENGTH) & (ids != 0)


def classes_of(words, lexicon):
    """The class of each word in the lexicon, plus one; 0 where it is not told."""
    return np.array([0] + [1 + lexicon.get(word, 0) for word in words], np.int64)


def label_loss(scores, read, tags, masks, allowed):
    real = ((tags != 255) & read).float()
    gold = torch.where(tags == 255, 0, tags)
    right = allowed[gold, masks][..., :TAGS]
    losses = torch.logsumexp(scores, -1) - torch.logsumexp(scores.masked_fill(~right, -1e4), -1)
    return (losses * real).sum() / real.sum()


def teach(reader, batches, args, allowed, device):
    """Fine-tunes until time is up."""
    groups = [{"params": [p for n, p in reader.named_parameters() if (n.split(".")[0] in ("head", "contexts", "classes")) == new], "scale": scale}
              for new, scale in ((False, 1.0), (True, 8.0))]
    optimizer = torch.optim.AdamW(groups, lr=args.rate, betas=(0.9, 0.98), weight_decay=0.01, fused=device == "cuda")
    def measured(ids, contexts, tags, masks):
        with torch.autocast(device, torch.bfloat16):
            scores, read = reader(ids, contexts, args.dropout, args.hide)
        return label_loss(scores.float(), read, tags, masks, allowed)
    if device == "cuda":
        measured = torch.compile(measured)
    began, step = time.time(), 0
    seconds = min(args.seconds, args.until - began)
    reader.train()
    while True:
        progress = max((time.time() - began) / seconds, step / args.steps)
        if progress >= 1:
            break
        rate = args.rate * min(1, (step + 1) / 300) * (1 - progress * 0.98)
        for group in optimizer.param_groups:
            group["lr"] = rate * group["scale"]
        ids, contexts, tags, masks = batches.draw()
        ids = batches.near(batches.swap(ids, tags, args.swap_word), contexts, tags, args.near_word)
        loss = measured(ids, contexts, tags, masks)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(reader.parameters(), 1.0)
        optimizer.step()
        if step % 250 == 0:
            print(f"step {step} loss {loss.item():.4f} {time.time() - began:.0f} s", flush=True)
        step += 1
    print(f"{step} steps", flush=True)


def packed(documents, numbers):
    """Documents as (document, offsets, ids, contexts)."""
    for document in documents:
        spans, contexts = F.tokenize(document[1])
        yield document, spans, [numbers[F.fold(document[1][start:end])] for start, end in spans], contexts


def judge(opinion, documents, numbers, device):
    """Recall and precision of names, and documents without names that are touched, of whoever gives opinions."""
    tally = np.zeros(6, int)
    for (_, text, gold), spans, ids, contexts in packed(documents, numbers):
        found = []
        for at in range(0, len(ids), 256):
            here = slice(at, at + 256)
            told = opinion(torch.tensor([ids[here]], device=device), torch.tensor([contexts[here]], device=device))[0]
            tags = export.viterbi((torch.log(told + 1e-6) * 2048).int().cpu().numpy())
            found += [span for span in F.spans_of(spans[here], tags) if span[2] == "NAME"]
        names = [span for span in gold if span[2] == "NAME"]
        tally += [len(names), sum(any(s < e2 and s2 < e for s2, e2, _ in found) for s, e, _ in names), len(found),
                  sum(any(s < e2 and s2 < e for s2, e2, _ in names) for s, e, _ in found), not names, not names and bool(found)]
    n, hit, found, right, harmless, touched = tally
    return f"names {n} recall {hit / max(1, n):.3f} precision {right / max(1, found):.3f}, touched {touched} of {harmless} without"


def held_words(documents):
    """Words of documents that are only measured on."""
    return {F.fold(text[start:end]) for _, text, _ in documents for start, end in F.tokenize(text)[0]}


def load_reader(path, words, lexicon, device):
    """A reader that learned from the same arrays; waits for one that still learns."""
    while not pathlib.Path(path).exists():
        time.sleep(1)
    saved = torch.load(path, map_location="cpu", weights_only=False)
    reader = Reader(saved["weights"], saved["pieces"], classes_of(words, lexicon))
    reader.load_state_dict(saved["state"])
    return reader.to(device).eval()


def read_at(readers, ids, contexts):
    """Which tokens all of them read to the end."""
    reach = torch.ones_like(ids, dtype=torch.bool)
    for reader in readers:
        count = (reader.pieces[ids, reader.case[contexts // 20]] >= 0).sum(-1)
        reach &= count.cumsum(1) - count < LENGTH
    return reach


def opinion_of(reader):
    """A function from ids and contexts to probabilities."""
    def told(ids, contexts):
        with torch.no_grad(), torch.autocast(ids.device.type, torch.bfloat16):
            return torch.softmax(reader(ids, contexts)[0].float(), -1)
    return told


def main():
    import train
    parser = argparse.ArgumentParser()
    for name in ("--work", "--arrays", "--weights", "--tokenizer", "--out"):
        parser.add_argument(name, type=pathlib.Path, required=True)
    parser.add_argument("--seconds", type=float, default=1e9, help="ends training; this or --until is needed")
    parser.add_argument("--until", type=float, default=1e12, help="a time in seconds since 1970 by which training ends")
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--batch", type=int, default=96)
    parser.add_argument("--rate", type=float, default=1e-4)
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--hide", type=float, default=0.08)
    parser.add_argument("--swap-word", type=float, default=0.02)
    parser.add_argument("--near-word", type=float, default=0.08)
    parser.add_argument("--documents", type=int, default=400_000)
    parser.add_argument("--leave-out", default="")
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--seed", type=int, default=8)
    args = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.backends.cuda.matmul.allow_tf32 = True
    began = time.time()
    lists, documents = generate.load_lists(args.work / "lists.json.gz"), data.load(args.work / "corpora.json.gz")
    words, streams, spelled = train.arrays(args, lists, documents)
    vectors = np.load(args.work / "vectors.npz")
    vectors = vectors["words"].tolist(), vectors["vectors"]
    vocabulary = train.choose_vocabulary(words, streams, lists["lexicon"], vectors[0])
    features = train.Features(words, vocabulary, lists["lexicon"], spelled, vectors, device)
    torch.manual_seed(args.seed)
    batches = train.Batches(streams, features, args.batch, device)
    batches.learn_near(words, lists["lexicon"], vectors, device)
    with np.load(args.weights) as file:
        weights = dict(file)
    reader = Reader(weights, pieces_of(words, args.tokenizer, args.workers), classes_of(words, lists["lexicon"])).to(device)
    print(f"ready {time.time() - began:.0f} s", flush=True)
    teach(reader, batches, args, train.allowed_tags(device), device)
    slim = {key: value.half() for key, value in reader.state_dict().items()}
    begun = args.out.with_suffix(".begun")
    torch.save({"weights": weights, "pieces": reader.pieces.cpu(), "state": slim}, begun)
    begun.rename(args.out)
    reader.eval()
    numbers = {word: number + 1 for number, word in enumerate(words)}
    for source in sorted({d[0] for d in documents if d[0].startswith("held")}):
        print(args.out.name, source, judge(opinion_of(reader), [d for d in documents if d[0] == source], numbers, device), flush=True)


if __name__ == "__main__":
    main()
