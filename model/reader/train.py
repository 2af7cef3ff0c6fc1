"""Trains the reader: first a teacher with all layers of the pretrained encoder, then the smaller pupil that is shipped.

    python3 train.py --work work --pretrained granite/reader.npz --whole granite/tokenizer.json --out out --teacher 200 --pupil 300

--teacher and --pupil are seconds; `--teacher-from` and `--pupil-from` go on from files that an earlier run wrote. Documents are drawn
by as many processes as there are processors, so no text is seen twice in the same form.
"""

import argparse
import json
import multiprocessing
import os
import pathlib
import time

import numpy as np
import torch
import torch.nn.functional as F
from tokenizers import Tokenizer

import kinds
import net
import pieces
import texts

BOS, EOS, PAD = 0, 1, 2
IGNORED = 255
# Documents that a process draws before it sorts their windows by length, and pieces in a batch.
POOL, BATCH = 300, int(os.environ.get("BATCH", 28_000))


def windows(ids, numbers, r):
    """What the reader sees of a document: all of it, or some stretches."""
    room = net.WINDOW - 2
    starts = [0] if len(ids) <= room else [r.randrange(len(ids) - room // 2) for _ in range(min(4, 1 + len(ids) // room))]
    for start in starts:
        yield ids[start:start + room], numbers[start:start + room]


def batches_of(found):
    """Windows of like lengths, padded and packed together."""
    found.sort(key=lambda one: len(one[0]))
    at = 0
    while at < len(found):
        count = 1
        while at + count < len(found) and (count + 1) * (len(found[at + count][0]) + 2) <= BATCH:
            count += 1
        part = found[at:at + count]
        at += count
        length = (len(part[-1][0]) + 2 + 31) // 32 * 32
        ids = np.full((len(part), length), PAD, np.int32)
        numbers = np.full((len(part), length), IGNORED, np.uint8)
        lengths = np.array([len(one[0]) + 2 for one in part], np.int32)
        for row, (one, told) in enumerate(part):
            ids[row, 0], ids[row, 1:1 + len(one)], ids[row, 1 + len(one)] = BOS, one, EOS
            numbers[row, 1:1 + len(one)] = told
        yield ids, lengths, numbers


def draw(work, tokenizer, seed, queue):
    """Fills the queue with batches, for ever."""
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    tokenizer, targets = Tokenizer.from_file(str(tokenizer)), kinds.all_targets()
    source = texts.Source(work, seed)
    while True:
        found = []
        for _ in range(POOL):
            group, text, spans = source.draw()
            text = text[:20_000]
            ids, offsets = texts.encode(tokenizer, text)
            if ids:
                numbers = texts.targets_of(offsets, [span for span in spans if span[1] <= len(text)], group, targets)
                found += windows(ids, numbers, source.r)
        made = list(batches_of(found))
        source.r.shuffle(made)
        for one in made:
            queue.put(one)


def label_loss(scores, numbers, allowed):
    """How much probability lies outside the classes that each target allows."""
    real = numbers != IGNORED
    right = allowed[torch.where(real, numbers, 0)]
    losses = torch.logsumexp(scores, -1) - torch.logsumexp(scores + right, -1)
    return (losses * real).sum() / real.sum()


def run(reader, queue, seconds, rate, allowed, device, teacher=None, dropout=0.1):
    """Trains until time is up."""
    head = [p for n, p in reader.named_parameters() if n.startswith("head")]
    body = [p for n, p in reader.named_parameters() if not n.startswith("head")]
    groups = [{"params": body, "scale": 1.0}, {"params": head, "scale": 1.0 if teacher else 5.0}]
    optimizer = torch.optim.AdamW(groups, lr=rate, betas=(0.9, 0.98), weight_decay=0.01, fused=device == "cuda")
    began, step, shown = time.time(), 0, 0.0
    reader.train()
    while True:
        progress = (time.time() - began) / seconds
        if progress >= 1:
            break
        for group in optimizer.param_groups:
            group["lr"] = rate * min(1, (step + 1) / 200) * max(0.01, 1 - progress) * group["scale"]
        ids, lengths, numbers = (torch.as_tensor(one).to(device, non_blocking=True).long() for one in queue.get())
        with torch.autocast(device, torch.bfloat16):
            scores = reader(ids, lengths, dropout, 0.03)
        loss = label_loss(scores.float(), numbers, allowed)
        if teacher is not None:
            with torch.no_grad(), torch.autocast(device, torch.bfloat16):
                told = teacher(ids, lengths).float()
            real = (numbers != IGNORED)
            far = F.kl_div(F.log_softmax(scores.float(), -1), F.log_softmax(told, -1), log_target=True, reduction="none").sum(-1)
            loss = 0.5 * loss + (far * real).sum() / real.sum()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(reader.parameters(), 1.0)
        optimizer.step()
        shown = 0.98 * shown + 0.02 * loss.item() if step else loss.item()
        if step % 500 == 0:
            print(f"step {step} loss {shown:.4f} waiting batches {queue.qsize()} {time.time() - began:.0f} s", flush=True)
        step += 1
    print(f"{step} steps, loss {shown:.4f}", flush=True)
    reader.eval()


def save(reader, path, vocabulary_size):
    """The reader with its matrices as int8 with one scale per row."""
    packed = {"heads": np.int64(reader.layers[0].heads), "local": np.int64(reader.is_local)}
    for name, value in reader.state_dict().items():
        value = value.float().cpu().numpy()
        if value.ndim == 2:
            scale = np.maximum(np.abs(value).max(1, keepdims=True), 1e-8) / 127
            packed[name], packed[name + "/s"] = np.clip(np.round(value / scale), -127, 127).astype(np.int8), scale.astype(np.float32)
        else:
            packed[name] = value.astype(np.float32)
    np.savez_compressed(path, **packed)


def load(path, vocabulary_size):
    """A reader that `save` wrote."""
    packed = dict(np.load(path))
    layers = len({name.split(".")[1] for name in packed if name.startswith("layers.")})
    inner, size = packed["layers.0.f1.weight"].shape
    reader = net.Reader(vocabulary_size, size, inner, layers, int(packed["heads"]), bool(packed["local"]))
    state = {name: torch.tensor(packed[name].astype(np.float32) * packed[name + "/s"] if name + "/s" in packed else packed[name]) for name in reader.state_dict()}
    reader.load_state_dict(state)
    return reader


@torch.no_grad()
def opinion(reader, ids, device):
    """Probabilities of all classes for each piece: [pieces, CLASSES]."""
    room, margin = net.WINDOW - 2, 16
    told = np.zeros((len(ids), kinds.CLASSES), np.float32)
    starts = [0]
    while starts[-1] + room < len(ids):
        starts.append(starts[-1] + room - 2 * margin)
    rows = [[BOS] + ids[start:start + room] + [EOS] for start in starts]
    length = max(len(row) for row in rows)
    lengths = torch.tensor([len(row) for row in rows], device=device)
    whole = torch.tensor([row + [PAD] * (length - len(row)) for row in rows], device=device)
    with torch.autocast(device, torch.bfloat16):
        found = torch.softmax(reader(whole, lengths).float(), -1).cpu().numpy()
    for number, start in enumerate(starts):
        low = 0 if number == 0 else margin
        end = min(room, len(ids) - start)
        told[start + low:start + end] = found[number, 1 + low:1 + end]
    return told


def judge(reader, tokenizer, path, device):
    """Share of documents without leak, of letters that leak, of harmless letters covered, and of harmless documents untouched."""
    sums = np.zeros(8)
    core = [1 + 2 * kinds.KINDS.index(kind) + part for kind in kinds.CORE for part in (0, 1)]
    for line in open(path):
        document = json.loads(line)
        text = document["text"]
        ids, offsets = texts.encode(tokenizer, text)
        if not ids:
            continue
        told = opinion(reader, ids, device)[:, core].sum(1)
        found, gold, other = (np.zeros(len(text) + 1, bool) for _ in range(3))
        for (start, end), share in zip(offsets, told):
            found[start:end] |= share >= 0.5
        for span in document["spans"]:
            (gold if span["type"] in kinds.CORE else other)[span["start"]:span["end"]] = True
        letters = np.array([letter.isalnum() for letter in text] + [False])
        missed, wrong = gold & letters & ~found, found & letters & ~gold & ~other
        sums += [gold.any(), gold.any() and not missed.any(), (gold & letters).sum(), missed.sum(), (letters & ~gold & ~other).sum(), wrong.sum(), not gold.any(),
                 not gold.any() and not wrong.any()]
    phi, whole, letters, missed, harmless, wrong, clean, untouched = np.maximum(sums, 1e-9)
    return f"no leak {whole / phi:.3f} leak {missed / letters:.4f} covered {wrong / harmless:.4f} untouched {untouched / clean:.3f} ({phi:.0f} + {clean:.0f} documents)"


def main():
    parser = argparse.ArgumentParser()
    for name in ("work", "pretrained", "whole", "out"):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
    parser.add_argument("--teacher", type=float, default=200)
    parser.add_argument("--pupil", type=float, default=300)
    parser.add_argument("--teacher-from", type=pathlib.Path)
    parser.add_argument("--pupil-from", type=pathlib.Path)
    parser.add_argument("--layers", default="0,1,3,5")
    parser.add_argument("--inner", type=int, default=512)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=max(1, (os.cpu_count() or 2) - 2))
    args = parser.parse_args()
    began = time.time()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(args.seed)
    torch.backends.cuda.matmul.allow_tf32 = True
    args.out.mkdir(parents=True, exist_ok=True)
    path = args.work / "pieces.json"
    context = multiprocessing.get_context("fork")
    queue = context.Queue(64)
    for number in range(args.workers):
        context.Process(target=draw, args=(args.work, path, args.seed * 1000 + number, queue), daemon=True).start()
    vocabulary, _ = pieces.read(path)
    whole, _ = pieces.read(args.whole)
    targets = kinds.all_targets()
    allowed = torch.full((len(targets.table), kinds.CLASSES), -1e4, device=device)
    for number, classes in enumerate(targets.table):
        allowed[number, classes] = 0
    tokenizer = Tokenizer.from_file(str(path))
    judged = sorted(args.work.glob("judged_*.jsonl"))

    def show(name, reader):
        for one in judged:
            print(name, one.stem.removeprefix("judged_"), judge(reader, tokenizer, one, device), f"{time.time() - began:.0f} s", flush=True)
    teacher = load(args.teacher_from, len(vocabulary)) if args.teacher_from else net.pretrained(args.pretrained, vocabulary, whole)
    teacher.to(device)
    print("first batch", [one.shape for one in queue.get()], f"{time.time() - began:.0f} s", flush=True)
    if args.teacher:
        run(teacher, queue, args.teacher, 2e-4, allowed, device)
        save(teacher, args.out / "teacher.npz", len(vocabulary))
        show("teacher", teacher)
    teacher.eval()
    if args.pupil_from:
        pupil = load(args.pupil_from, len(vocabulary)).to(device)
    else:
        some = [tuple(torch.as_tensor(one).to(device).long() for one in queue.get()) for _ in range(20)]
        kept = [int(number) for number in args.layers.split(",")]
        pupil = net.pruned(teacher.float(), kept, args.inner, net.importance_of(teacher, some)).to(device)
    pupil.set_rounded(True)
    run(pupil, queue, args.pupil, 4e-4 if not args.pupil_from else 2e-4, allowed, device, teacher, 0.05)
    save(pupil, args.out / "pupil.npz", len(vocabulary))
    show("pupil", pupil)
    print(f"done {time.time() - began:.0f} s", flush=True)
    for process in multiprocessing.active_children():
        process.kill()
    os._exit(0)


if __name__ == "__main__":
    main()
