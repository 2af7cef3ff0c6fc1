"""Fits the gates between the narrow layers: who needs no further layer after all.

    python3 gates.py --work work weights.bin fitted.bin

The gate after the first layer sees three tokens and lets ten times as many through as turn out to matter. Each layer sees
further than the one below it, so one more weighted sum after it tells most of the others apart before the layers above are
computed around them. A token matters if the narrow layers, asked to the end, come near to reporting it: from there on
the wide layers are asked, and decide. Nothing else of the model is changed.
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
# Of the tokens that matter, so many may be held back by the gate after each layer.
HELD_BACK = [3e-4, 7e-4, 1e-3]
# Tokens to fit with, and as many to set the bias with.
TOKENS = 150_000


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
    for job in [("generate", seed, 900), ("corpora", seed % 32, 32), ("material", seed % 48, 48), ("languages", seed, 300)]:
        data.work(job, Collector())
    random.Random(seed).shuffle(texts)
    return texts


def activations(model, texts, count):
    """Of tokens that pass the first gate: their layers [count, layers, 64], and the narrow layers' lead in the end."""
    rows, leads, found = [], [], 0
    for text in texts:
        _, first = model.first(text)
        if not len(first):
            continue
        layers = export.layers_of(first, model.convs)
        wanted = export.passing(first, model.gate)
        rows.append(np.stack(layers[:-1], 1)[wanted].astype(np.uint8))
        leads.append(export.lead_of(export.scored(layers[-1], model.output))[wanted])
        found += len(leads[-1])
        if found >= count:
            break
    return np.concatenate(rows), np.concatenate(leads)


def fitted(rows, leads, doubt):
    """A weighted sum of activations that tells the tokens that matter from the others, as int8 weights."""
    x, matters = torch.tensor(rows, dtype=torch.float32) / 127, torch.tensor(leads >= doubt)
    counts = torch.where(matters, torch.where(torch.tensor(leads >= 0), REPORTED, MATTERS), 1.0)
    weight, bias = torch.zeros(x.shape[1], requires_grad=True), torch.zeros(1, requires_grad=True)
    optimizer = torch.optim.LBFGS([weight, bias], max_iter=100, history_size=12, line_search_fn="strong_wolfe")

    def loss():
        optimizer.zero_grad()
        value = torch.nn.functional.binary_cross_entropy_with_logits(x @ weight + bias, matters.float(), counts) + 1e-5 * (weight ** 2).sum()
        value.backward()
        return value
    optimizer.step(loss)
    weight = weight.detach().numpy()
    return np.round(weight * 127 / np.abs(weight).max()).astype(np.int8)


def fit(model, texts):
    """Fits the gates of a model, and says what they hold back."""
    rows, leads = activations(model, texts, 2 * TOKENS)
    own, others = slice(0, None, 2), slice(1, None, 2)
    doubt, matters = model.doubt[0], leads[others] >= model.doubt[0]
    gates, wanted = [], np.ones(len(leads[others]), bool)
    for layer, share in enumerate(HELD_BACK[:rows.shape[1]]):
        weight = fitted(rows[own, layer], leads[own], doubt)
        sums = rows[others, layer].astype(np.int32) @ weight.astype(np.int32)
        bias = 1 - int(np.quantile(sums[matters], share, method="lower"))
        gates.append((weight, bias))
        wanted &= sums + bias > 0
        strong = leads[others] >= 0
        print(f"after layer {layer + 1}: {wanted[~matters].mean():.3f} of what does not matter goes on; held back: "
              f"{1 - wanted[matters].mean():.5f} of what matters, {1 - wanted[strong].mean():.5f} of what would be reported", flush=True)
    model.gates = gates


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
