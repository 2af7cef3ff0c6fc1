"""The reader: an encoder like BERT that says of each piece of a text which kind of value it belongs to.

Weights are trained as they will be stored: matrices in int8 with one scale per row (`rounded`).
"""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

import kinds

# Pieces on either side that a piece attends to, and pieces of a window.
NEAR, WINDOW = 64, 256


def rounded(weight):
    """The weight as int8 can say it, for the forward pass; gradients pass through."""
    scale = weight.detach().abs().amax(1, keepdim=True).clamp(min=1e-8) / 127
    return weight + ((weight.detach() / scale).round().clamp(-127, 127) * scale - weight.detach())


class Linear(nn.Linear):
    is_rounded = False

    def forward(self, x):
        return F.linear(x, rounded(self.weight) if self.is_rounded else self.weight, self.bias)


class Layer(nn.Module):
    def __init__(self, size, inner, heads):
        super().__init__()
        self.heads = heads
        self.qkv, self.ao, self.f1, self.f2 = Linear(size, 3 * size), Linear(size, size), Linear(size, inner), Linear(inner, size)
        self.aln, self.fln = nn.LayerNorm(size, eps=1e-6), nn.LayerNorm(size, eps=1e-6)

    def forward(self, x, mask, dropout):
        batch, length, size = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, self.heads, size // self.heads).permute(2, 0, 3, 1, 4)
        told = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        x = self.aln(x + F.dropout(self.ao(told.transpose(1, 2).reshape(batch, length, size)), dropout, self.training))
        inner = F.gelu(self.f1(x), approximate="tanh")
        return self.fln(x + F.dropout(self.f2(inner), dropout, self.training))


class Reader(nn.Module):
    def __init__(self, pieces, size, inner, layers, heads, is_local):
        super().__init__()
        self.word, self.pos = nn.Embedding(pieces, size), nn.Embedding(WINDOW, size)
        self.eln = nn.LayerNorm(size, eps=1e-6)
        self.layers = nn.ModuleList(Layer(size, inner, heads) for _ in range(layers))
        self.head = Linear(size, kinds.CLASSES)
        self.is_local = is_local

    def set_rounded(self, is_rounded):
        for module in self.modules():
            if isinstance(module, Linear):
                module.is_rounded = is_rounded

    def forward(self, ids, lengths, dropout=0.0, hide=0.0):
        """Scores [batch, length, CLASSES]."""
        length = ids.shape[1]
        place = torch.arange(length, device=ids.device)
        mask = (place[None, None, :] < lengths[:, None, None]) | (place[None, :, None] == place[None, None, :])
        if self.is_local:
            mask = mask & ((place[None, :] - place[:, None]).abs() <= NEAR)[None]
        word = rounded(self.word.weight)[ids] if self.layers[0].f1.is_rounded else self.word(ids)
        if hide:
            word = word * (torch.rand(ids.shape, device=ids.device) >= hide).unsqueeze(-1)
        x = F.dropout(self.eln(word + self.pos.weight[:length]), dropout, self.training)
        for layer in self.layers:
            x = layer(x, mask.unsqueeze(1), dropout)
        return self.head(x)


def pretrained(path, vocabulary, whole):
    """A reader of all layers from `pack_readers.py`'s file, its table cut to the pruned vocabulary."""
    weights = dict(np.load(path))

    def table(name):
        scales = weights[name + "/s"] if name + "/s" in weights else 1
        return torch.tensor(np.asarray(weights[name], np.float32) * scales)
    layers = 1 + max(int(name[1]) for name in weights if name[0] == "l")
    inner, size = weights["l0.f1.w"].shape
    reader = Reader(len(vocabulary), size, inner, layers, int(weights["heads"]), False)
    offset = int(weights["offset"])
    with torch.no_grad():
        rows = [whole[piece] for piece in sorted(vocabulary, key=vocabulary.get)]
        reader.word.weight.copy_(table("word")[rows])
        reader.pos.weight.copy_(table("pos")[offset:offset + WINDOW])
        reader.eln.weight.copy_(table("eln.w"))
        reader.eln.bias.copy_(table("eln.b"))
        for number, layer in enumerate(reader.layers):
            for part in ("qkv", "ao", "aln", "f1", "f2", "fln"):
                getattr(layer, part).weight.copy_(table(f"l{number}.{part}.w"))
                getattr(layer, part).bias.copy_(table(f"l{number}.{part}.b"))
    return reader


def pruned(teacher, kept, inner, importance):
    """A pupil that begins as some layers of the teacher, with the units that matter most."""
    size = teacher.word.weight.shape[1]
    pupil = Reader(len(teacher.word.weight), size, inner, len(kept), teacher.layers[0].heads, True)
    with torch.no_grad():
        for name in ("word", "pos", "eln", "head"):
            getattr(pupil, name).load_state_dict(getattr(teacher, name).state_dict())
        for layer, number in zip(pupil.layers, kept):
            other = teacher.layers[number]
            for name in ("qkv", "ao", "aln", "fln"):
                getattr(layer, name).load_state_dict(getattr(other, name).state_dict())
            units = importance[number].topk(inner).indices.sort().values
            layer.f1.weight.copy_(other.f1.weight[units])
            layer.f1.bias.copy_(other.f1.bias[units])
            layer.f2.weight.copy_(other.f2.weight[:, units])
            layer.f2.bias.copy_(other.f2.bias)
    return pupil


def importance_of(teacher, batches):
    """How much each inner unit of each layer moves what comes out."""
    sums = [torch.zeros(len(layer.f1.bias), device=layer.f1.bias.device) for layer in teacher.layers]
    hooks = []
    for number, layer in enumerate(teacher.layers):
        def count(module, inputs, output, number=number):
            sums[number] += F.gelu(output.float(), approximate="tanh").abs().mean((0, 1))
        hooks.append(layer.f1.register_forward_hook(count))
    with torch.no_grad():
        for ids, lengths, _ in batches:
            teacher(ids, lengths)
    for hook in hooks:
        hook.remove()
    return [total * layer.f2.weight.norm(dim=0) for total, layer in zip(sums, teacher.layers)]
