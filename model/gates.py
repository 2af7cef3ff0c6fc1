"""Fits what spares layers of the model: the screen above the first gate, and the gates between the narrow layers.

    python3 gates.py --work work weights.bin fitted.bin

The gate after the first layer sees three tokens and lets ten times as many through as turn out to matter. The screen, a
layer of sixteen units, looks at those and at two tokens on either side, for less than half of what a row of the narrow
layers costs. Each layer sees further than the one below it, so one more weighted sum after it tells most of the others apart
before the layers above are computed around them. A token matters if the narrow layers, asked to the end, come near to
reporting it: from there on the wide layers are asked, and decide. Nothing else of the model is changed.
"""

import argparse
import pathlib
import random

import numpy as np
import torch

import data
import export
import generate

# What a token that matters counts beside one that does not: more if it would be reported.
MATTERS, REPORTED = 12.0, 30.0
# Of the tokens that matter, so many may be held back by the screen, and by the gate after each layer.
SCREENED, HELD_BACK = 3e-4, [3e-4, 7e-4, 1e-3]
# Tokens to fit with, one in eight of them to set the biases with.
TOKENS = 1_600_000
# So many shares of the training mix hold about as many.
ROUNDS = 4
# How often the screen sees each of them, and how many at a time.
EPOCHS, BATCH = 25, 2048


def training_texts(work, seed):
    """Texts of all kinds that the model learns from."""
    lists, documents = generate.load_lists(work / "lists.json.gz"), data.load(work / "corpora.json.gz")
    documents = [document for document in documents if not data.is_evaluation(document)]
    pieces, _ = data.load_material(work / "material.json.gz")
    texts = []

    class Collector(data.Packer):
        def add(self, group, text, *_, **__):
            texts.append(text)
    data.start_worker(lists, documents, [text for source, text, _ in documents if source.startswith("neg_")], pieces)
    for seed in range(seed, seed + ROUNDS):
        for job in [("generate", seed, 900), ("corpora", seed % 32, 32), ("material", seed % 48, 48), ("languages", seed, 300)]:
            data.work(job, Collector())
    random.Random(seed).shuffle(texts)
    return texts


def activations(model, texts, count):
    """Of tokens that pass the first gate: what the screen sees [count, 320], the layers [count, layers, 64], and the narrow
    layers' lead in the end."""
    seen, rows, leads, found = [], [], [], 0
    for text in texts:
        _, first = model.first(text)
        wanted = export.passing(first, model.gate)
        if not wanted.any():
            continue
        layers = export.layers_of(first, model.convs)
        seen.append(export.around(first)[wanted].astype(np.uint8))
        rows.append(np.stack(layers[:-1], 1)[wanted].astype(np.uint8))
        leads.append(export.lead_of(export.scored(layers[-1], model.output))[wanted])
        found += len(leads[-1])
        if found >= count:
            break
    return np.concatenate(seen), np.concatenate(rows), np.concatenate(leads)


def what_counts(leads, doubt):
    """Whether tokens matter, and what each counts."""
    matters, reported = torch.tensor(leads >= doubt), torch.tensor(leads >= 0)
    return matters.float(), torch.where(matters, torch.where(reported, REPORTED, MATTERS), 1.0)


def fitted_screen(rows, leads, doubt):
    """Units and their weights, as integers: int8 [16, 320], int32 [16], int8 [16]."""
    torch.manual_seed(0)
    x, (matters, counts) = torch.tensor(rows), what_counts(leads, doubt)
    units, output = torch.nn.Linear(x.shape[1], export.UNITS), torch.nn.Linear(export.UNITS, 1)
    parameters = [*units.parameters(), *output.parameters()]
    optimizer = torch.optim.AdamW(parameters, weight_decay=1e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 2e-3, total_steps=EPOCHS * (len(x) // BATCH) + 1)
    for _ in range(EPOCHS):
        order = torch.randperm(len(x))
        for place in range(0, len(x) - BATCH + 1, BATCH):
            batch = order[place:place + BATCH]
            sums = output(units(x[batch].float() / 32).relu())[:, 0]
            loss = torch.nn.functional.binary_cross_entropy_with_logits(sums, matters[batch], counts[batch])
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(parameters, 5.0)
            optimizer.step()
            schedule.step()
    weight, bias, last = units.weight.detach().numpy(), units.bias.detach().numpy() * 32, output.weight.detach().numpy()[0]
    # Each unit has the scale that its largest weight allows for, and the last weights make up for it.
    scale = 127 / np.abs(weight).max(1)
    last = last / scale
    return (np.round(weight * scale[:, None]).astype(np.int8), np.round(bias * scale).astype(np.int32),
            np.round(last * 127 / np.abs(last).max()).astype(np.int8))


def fitted(rows, leads, doubt):
    """A weighted sum of activations that tells the tokens that matter from the others, as int8 weights."""
    x, (matters, counts) = torch.tensor(rows, dtype=torch.float32) / 127, what_counts(leads, doubt)
    weight, bias = torch.zeros(x.shape[1], requires_grad=True), torch.zeros(1, requires_grad=True)
    optimizer = torch.optim.LBFGS([weight, bias], max_iter=100, history_size=12, line_search_fn="strong_wolfe")

    def loss():
        optimizer.zero_grad()
        value = torch.nn.functional.binary_cross_entropy_with_logits(x @ weight + bias, matters, counts) + 1e-5 * (weight ** 2).sum()
        value.backward()
        return value
    optimizer.step(loss)
    weight = weight.detach().numpy()
    return np.round(weight * 127 / np.abs(weight).max()).astype(np.int8)


def fit(model, texts):
    """Fits the screen and the gates of a model, and says what they hold back."""
    seen, rows, leads = activations(model, texts, TOKENS)
    own, others = slice(0, len(leads) // 8 * 7), slice(len(leads) // 8 * 7, None)
    doubt, matters, strong = model.doubt[0], leads[others] >= model.doubt[0], leads[others] >= 0
    wanted = np.ones(len(matters), bool)

    def bias_for(sums, share, name):
        nonlocal wanted
        bias = 1 - int(np.quantile(sums[matters], share, method="lower"))
        wanted &= sums + bias > 0
        print(f"after {name}: {wanted[~matters].mean():.3f} of what does not matter goes on; held back: "
              f"{1 - wanted[matters].mean():.5f} of what matters, {1 - wanted[strong].mean():.5f} of what would be reported", flush=True)
        return bias
    screen = fitted_screen(seen[own], leads[own], doubt)
    model.screen = *screen, bias_for(export.screen_sums(seen[others], *screen), SCREENED, "the screen")
    model.gates = []
    for layer, share in enumerate(HELD_BACK[:rows.shape[1]]):
        weight = fitted(rows[own, layer][::4], leads[own][::4], doubt)
        sums = rows[others, layer].astype(np.int32) @ weight.astype(np.int32)
        model.gates.append((weight, bias_for(sums, share, f"layer {layer + 1}")))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("work"))
    parser.add_argument("--seed", type=int, default=8)
    parser.add_argument("weights")
    parser.add_argument("out")
    args = parser.parse_args()
    model = export.read(args.weights)
    fit(model, training_texts(args.work, args.seed))
    model.write(args.out)


if __name__ == "__main__":
    main()
