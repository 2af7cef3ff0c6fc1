"""The reader's tokenizer: byte-level BPE with a vocabulary pruned to what our texts use.

    python3 pieces.py TOKENIZER.json OUT.json < texts      (JSON strings, one per line)

A pre-token is a run of at most 32 letters, 3 digits or 8 other signs, each with the blank before it, or white space.
`crates/phi-detect/src/reader/pieces.rs` reads text in the same way.
"""

import collections
import json
import sys

from tokenizers import Regex, Tokenizer, models, pre_tokenizers

VOCABULARY = 24_000
SPECIAL = ["<s>", "</s>", "<pad>"]
LETTER, NUMBER = r"[\p{Alphabetic}&&[^\p{N}]]", r"\p{N}"
SIGN = r"[^\s\p{Alphabetic}\p{N}]"
PATTERN = rf" ?{LETTER}{{1,32}}| ?{NUMBER}{{1,3}}| ?{SIGN}{{1,8}}|\s{{1,16}}(?!\S)|\s{{1,16}}"


def build(vocabulary, merges):
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(PATTERN), "isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False, trim_offsets=False),
    ])
    return tokenizer


def read(path):
    """(vocabulary, merges) of a tokenizer file."""
    model = json.load(open(path))["model"]
    merges = [tuple(one) if isinstance(one, list) else tuple(one.split(" ")) for one in model["merges"]]
    return model["vocab"], merges


def prune(vocabulary, merges, counts):
    """The commonest pieces, with all that they are merged from."""
    made_of = {}
    for left, right in merges:
        made_of.setdefault(left + right, (left, right))
    kept = {piece for piece in vocabulary if len(piece) == 1}

    def needed(piece):
        parts, open_ = set(), [piece]
        while open_:
            one = open_.pop()
            if one not in kept and one not in parts:
                parts.add(one)
                open_ += made_of[one]
        return parts

    for piece, _ in counts.most_common():
        if len(kept) >= VOCABULARY - len(SPECIAL):
            break
        if len(piece) > 1 and piece in made_of:
            kept |= needed(piece)
    order = SPECIAL + sorted(kept, key=lambda piece: vocabulary[piece])
    return {piece: number for number, piece in enumerate(order)}, [pair for pair in merges if "".join(pair) in kept and made_of["".join(pair)] == pair]


def main():
    vocabulary, merges = read(sys.argv[1])
    whole = build(vocabulary, merges)
    counts, batch = collections.Counter(), []
    for line in sys.stdin:
        batch.append(json.loads(line))
    for start in range(0, len(batch), 2000):
        for one in whole.encode_batch(batch[start:start + 2000], add_special_tokens=False):
            counts.update(one.tokens)
    pruned, kept = prune(vocabulary, merges, counts)
    covered = sum(count for piece, count in counts.items() if piece in pruned) / sum(counts.values())
    build(pruned, kept).save(sys.argv[2])
    print(len(pruned), "pieces", len(kept), "merges; of all pieces", round(covered, 4), "are kept", file=sys.stderr)


if __name__ == "__main__":
    main()
