"""Tokens and features: what the model sees of a text.

This file and `crates/phi-detect/src/names/token.rs` say the same thing in two
languages; `export.py` writes sample texts with their expected tags so that the
Rust tests notice when they stop agreeing.

A token is a run of letters, a run of digits, or one other character. A token
becomes: a word row (known words, numbers by shape, punctuation), or n-gram
rows plus a lexicon class (unknown words), and always one context row
(shape of the token, white space before it, case of its line).
"""

import re
import unicodedata

LETTERS = (
    "A-Za-z\u00aa\u00b5\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u1fff\u2c00-\u2fef"
    "\u3040-\ud7ff\uf900-\ufaff\ufe70-\ufefe\uff21-\uff3a\uff41-\uff5a"
    "\U00010000-\U0001cfff\U00020000-\U0003ffff"
)
SPACES = "\t\n\x0b\x0c\r \x85\xa0\u2000-\u200f\u2028\u2029\u202f\u205f\u2060\u3000\ufeff"
TOKEN = re.compile(f"[{LETTERS}]+|[0-9]+|[^{SPACES}]")

IS_LETTER = re.compile(f"[{LETTERS}]")

TYPES = ["NAME", "ADDRESS", "DOB", "DATE", "LOCATION", "ORG"]
TAGS = ["O"] + [prefix + kind for kind in TYPES for prefix in ("B-", "I-")]
TAG_OF = {tag: number for number, tag in enumerate(TAGS)}

# Word rows: 0 is "outside the text", 1..127 the ASCII marks, then number classes, then words.
NUMBER_BASE = 128
NUMBER_CLASSES = 64
WORD_BASE = NUMBER_BASE + NUMBER_CLASSES
AFFIX_BITS, TRIGRAM_BITS = 13, 12
LEX_CLASSES = 64
LENGTHS = 16
CONTEXTS = 120
TRIGRAMS_MAX = 6
KEPT_BYTES = 48
NGRAMS_MAX = 3 + TRIGRAMS_MAX + 2

SPECIAL_FOLDS = {"ø": "o", "ł": "l", "đ": "d", "ß": "s", "æ": "a", "œ": "o", "ı": "i", "ð": "d", "þ": "t", "ħ": "h"}
MARK_FOLDS = {"‘": "'", "’": "'", "“": '"', "”": '"', "–": "-", "—": "-", "‐": "-", "‑": "-", "−": "-", "•": "*", "…": "."}
FOLD_RANGES = [(0xC0, 0x250), (0x1E00, 0x1F00)]


def fold_letter(char):
    """Lower case without accents where that gives an ASCII letter, else the character itself."""
    low = char.lower()
    if low[0] in SPECIAL_FOLDS:
        return SPECIAL_FOLDS[low[0]]
    base = unicodedata.normalize("NFD", low)[0]
    return base if base.isascii() and base.isalpha() else char


FOLDS = {}
UPPER = set("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
for _start, _end in FOLD_RANGES:
    for _code in range(_start, _end):
        _folded = fold_letter(chr(_code))
        if _folded != chr(_code):
            FOLDS[_code] = _folded
            if chr(_code).isupper():
                UPPER.add(chr(_code))


def fold(token):
    return token.lower() if token.isascii() else "".join(
        char.lower() if char.isascii() else FOLDS.get(ord(char), char) for char in token
    )


def shape(token):
    """0 lower, 1 Title, 2 UPPER, 3 one capital, 4 mIxed, 5 not letters."""
    if token.isascii():
        if not token.isalpha():
            return 5
        if token.islower():
            return 0
        if len(token) == 1:
            return 3
        if token.isupper():
            return 2
        return 1 if token[0].isupper() and token[1:].islower() else 4
    if fixed_word_row(token) is not None:
        return 5
    uppers = [char in UPPER for char in token]
    if not any(uppers):
        return 0
    if len(token) == 1:
        return 3
    if all(uppers):
        return 2
    return 1 if uppers[0] and not any(uppers[1:]) else 4


LOWER_SHAPE = [0, 0, 0, 0, 0, 5]
UPPER_SHAPE = [2, 2, 2, 3, 2, 5]  # a single lower-case letter becomes 3 only through its own text


def number_class(digits):
    """Numbers by what they could be: day, month, year, ZIP, compact date, and by length."""
    size = len(digits)
    if size <= 2:
        value = int(digits)
        band = 0 if value == 0 else 1 if value <= 12 else 2 if value <= 31 else 3
        return band * 3 + (0 if size == 1 else 1 if digits[0] == "0" else 2)
    if size == 4:
        value = int(digits)
        if 1900 <= value < 2050:
            return 12 + (value - 1900) // 10
        return 27 if 1 <= value // 100 <= 12 and 1 <= value % 100 <= 31 else 28
    if size == 8:
        value = int(digits)
        if 1900 <= value // 10000 < 2050 and 1 <= value // 100 % 100 <= 12 and 1 <= value % 100 <= 31:
            return 29
        if 1900 <= value % 10000 < 2050 and 1 <= value // 1000000 <= 31 and 1 <= value // 10000 % 100 <= 31:
            return 30
        return 31
    if size in (12, 14) and digits[:2] in ("19", "20"):
        return 32
    return 33 + min(size, 15)


def hash_gram(data, salt, bits):
    value = int.from_bytes(data, "little") ^ (salt * 0x85EBCA6B & 0xFFFFFFFF)
    value = value * 0x9E3779B1 & 0xFFFFFFFF
    value ^= value >> 15
    value = value * 0x2C1B3C6D & 0xFFFFFFFF
    return value >> (32 - bits)


def hash_word(data):
    """FNV-1a, 64 bits."""
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return value


def ngram_rows(folded, lex_class):
    """Rows of an unknown word, as offsets into the n-gram table."""
    data = folded.encode()[:KEPT_BYTES]
    rows = [
        hash_gram(data[:3], 1, AFFIX_BITS),
        hash_gram(data[-3:], 2, AFFIX_BITS),
        hash_gram(data[-4:], 3, AFFIX_BITS),
    ]
    base = 1 << AFFIX_BITS
    for start in range(1, min(len(data) - 2, TRIGRAMS_MAX + 1)):
        rows.append(base + hash_gram(data[start:start + 3], 4, TRIGRAM_BITS))
    base += 1 << TRIGRAM_BITS
    rows.append(base + lex_class)
    rows.append(base + LEX_CLASSES + min(len(data), LENGTHS - 1))
    return rows


NGRAM_ROWS = (1 << AFFIX_BITS) + (1 << TRIGRAM_BITS) + LEX_CLASSES + LENGTHS


def fixed_word_row(token):
    """The row of a mark or number; None for words."""
    first = token[0]
    if first.isascii():
        if first.isdigit():
            return NUMBER_BASE + number_class(token)
        return None if first.isalpha() else ord(first)
    folded = MARK_FOLDS.get(first)
    if folded:
        return ord(folded)
    return None if IS_LETTER.match(first) else 127


def line_case(line):
    lower = any("a" <= char <= "z" for char in line)
    upper = any("A" <= char <= "Z" for char in line)
    return lower + 2 * upper


def tokenize(text):
    """Token spans and context rows."""
    spans, contexts = [], []
    case, line_end, previous_end = 0, -1, None
    for match in TOKEN.finditer(text):
        start, end = match.span()
        if start > line_end:
            line_start = text.rfind("\n", 0, start) + 1
            line_end = text.find("\n", start)
            line_end = len(text) if line_end < 0 else line_end
            case = line_case(text[line_start:line_end])
        if previous_end is None:
            space = 4
        else:
            gap = text[previous_end:start]
            breaks = gap.count("\n")
            space = min(2 + breaks, 4) if breaks else 0 if not gap else 1 if gap == " " else 2
        contexts.append((shape(match.group()) * 5 + space) * 4 + case)
        spans.append((start, end))
        previous_end = end
    return spans, contexts


def tags_of(spans, gold):
    """BIO tag numbers for tokens, from labelled spans (start, end, type)."""
    tags = [0] * len(spans)
    token = 0
    for start, end, kind in sorted(gold):
        if kind not in TYPES:
            continue
        while token < len(spans) and spans[token][1] <= start:
            token += 1
        first = True
        here = token
        while here < len(spans) and spans[here][0] < end:
            if tags[here] == 0:
                tags[here] = TAG_OF[("B-" if first else "I-") + kind]
                first = False
            here += 1
    return tags


def spans_of(token_spans, tags):
    """Labelled spans from BIO tag numbers."""
    found = []
    for (start, end), tag in zip(token_spans, tags):
        if tag == 0:
            found.append(None)
            continue
        kind, begins = TYPES[(tag - 1) // 2], (tag - 1) % 2 == 0
        if not begins and found and found[-1] and found[-1][2] == kind:
            found[-1] = (found[-1][0], end, kind)
        else:
            found.append((start, end, kind))
    return [span for span in found if span]
