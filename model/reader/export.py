"""Writes the reader's weights as the detector reads them, and texts with what Python says of them.

    python3 export.py pupil.npz pieces.json reader.bin [golden.json]

Matrices are packed for the kernels: blocks of sixteen outputs, then pairs of inputs, then for each output two signed bytes.
"""

import json
import struct
import sys

import numpy as np

import kinds
import net
import pieces

MAGIC = b"PHR1"
LANES = 16


def padded(array, count):
    return np.concatenate([array, np.zeros((count - len(array),) + array.shape[1:], array.dtype)])


def packed(weight):
    """[outputs, inputs] as blocks of sixteen outputs."""
    outputs, inputs = weight.shape
    return weight.reshape(outputs // LANES, LANES, inputs // 2, 2).transpose(0, 2, 1, 3).tobytes()


def byte_of():
    """The byte that each letter of the tokenizer's alphabet stands for."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in plain]
    return {chr(byte): byte for byte in plain} | {chr(256 + number): byte for number, byte in enumerate(others)}


class File:
    """Sections one after the other, each beginning at a multiple of 64."""

    def __init__(self):
        self.parts = bytearray()

    def add(self, data):
        self.parts += b"\0" * (-len(self.parts) % 64) + data

    def floats(self, array):
        self.add(np.asarray(array, "<f4").tobytes())


def main():
    weights = dict(np.load(sys.argv[1]))
    vocabulary, merges = pieces.read(sys.argv[2])
    layers = len({name.split(".")[1] for name in weights if name.startswith("layers.")})
    inner, size = weights["layers.0.f1.weight"].shape
    classes = -(-kinds.CLASSES // LANES) * LANES
    file = File()
    file.add(MAGIC + struct.pack("<8I", len(vocabulary), size, inner, layers, int(weights["heads"]), net.WINDOW, net.NEAR, len(merges)))
    for name in ("word", "pos"):
        file.add(weights[f"{name}.weight"].tobytes())
        file.floats(weights[f"{name}.weight/s"])
    for kind in ("weight", "bias"):
        file.floats(weights[f"eln.{kind}"])
    for number in range(layers):
        for part in ("qkv", "ao", "aln", "f1", "f2", "fln"):
            name = f"layers.{number}.{part}"
            if part.endswith("ln"):
                file.floats(weights[name + ".weight"])
            else:
                file.add(packed(weights[name + ".weight"]))
                file.floats(weights[name + ".weight/s"])
            file.floats(weights[name + ".bias"])
    file.add(packed(padded(weights["head.weight"], classes)))
    file.floats(padded(weights["head.weight/s"], classes))
    # Classes that do not exist are never likely.
    file.floats(np.concatenate([weights["head.bias"], np.full(classes - kinds.CLASSES, -1e4, np.float32)]))
    bytes_ = byte_of()
    file.add(np.array([vocabulary[letter] for letter in sorted(bytes_, key=bytes_.get)], "<u2").tobytes())
    table = sorted((vocabulary[left], vocabulary[right], vocabulary[left + right], rank) for rank, (left, right) in enumerate(merges))
    file.add(np.array(table, "<u2").tobytes())
    hash_ = 0xCBF29CE484222325
    data = bytes(file.parts) + b"\0" * (-len(file.parts) % 64)
    for eight in np.frombuffer(data, "<u8").tolist():
        hash_ = ((hash_ ^ eight) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    open(sys.argv[3], "wb").write(data + struct.pack("<Q", hash_))
    print(len(data) + 8, "bytes", layers, "layers of", size, "and", inner)
    if len(sys.argv) > 4:
        write_golden(sys.argv[1], sys.argv[2], sys.argv[4])


def write_golden(weights, tokenizer, out):
    """Texts of our own with their pieces, and how likely each is part of a value: a test compares the detector's reader."""
    import torch
    from tokenizers import Tokenizer

    import texts
    import train
    tokenizer = Tokenizer.from_file(tokenizer)
    reader = train.load(weights, tokenizer.get_vocab_size()).eval()
    golden = []
    for name in ("various", "spoken", "places"):
        chosen = [text for _, text, _ in texts.data_marked(name)][::17][:12]
        for text in chosen:
            ids, _ = texts.encode(tokenizer, text[:700])
            ids = ids[:net.WINDOW - 2]
            with torch.no_grad():
                told = torch.softmax(reader(torch.tensor([[0, *ids, 1]]), torch.tensor([len(ids) + 2])), -1)[0, 1:-1]
            golden.append({"text": text[:700], "pieces": ids, "shares": [round(1 - share, 4) for share in told[:, 0].tolist()]})
    json.dump(golden, open(out, "w"), ensure_ascii=False, separators=(",", ":"))


if __name__ == "__main__":
    main()
