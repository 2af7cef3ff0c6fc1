"""Collects pieces of harmless material: source code, configuration, markup, documentation, prose in many languages.

    python3 material.py --packages DIR --mirrors DIR --lists DIR --out work/material.json.gz

--packages holds package archives as the registries serve them (`MODEL_CARD.md` says which), --mirrors bare git
repositories. Lines that name a person (authors, copyright, addresses, a known given name before a capital) are cut, so that
nobody's name is taught to be nothing. A piece is a stretch of whole lines, 400 to 3,000 characters long.
"""

import argparse
import collections
import gzip
import hashlib
import io
import json
import multiprocessing
import pathlib
import random
import re
import subprocess
import tarfile
import zipfile

# How many pieces of a class of files are kept, by ending; what is not named is left out.
CLASSES = {
    "python": ("py pyi pyx", 2600), "rust": ("rs", 1800), "javascript": ("js jsx mjs cjs", 2200), "typescript": ("ts tsx vue svelte", 1900),
    "go": ("go", 1200), "java": ("java", 1000), "csharp": ("cs", 900), "kotlin": ("kt kts", 700), "ruby": ("rb rake gemspec", 1000), "c": ("c h cc cpp hpp cu m mm", 1600),
    "php": ("php", 800), "swift": ("swift", 600), "scala": ("scala sbt", 600), "dart": ("dart", 700), "elixir": ("ex exs", 600), "haskell": ("hs", 400),
    "perl": ("pl pm t", 500), "lua": ("lua", 300), "r": ("r rmd", 500), "shell": ("sh bash zsh fish bat ps1", 1000), "sql": ("sql cql", 700),
    "make": ("mk cmake makefile cmakelists.txt gradle bazel bzl build", 600), "docker": ("dockerfile", 300), "yaml": ("yml yaml", 1400),
    "toml": ("toml ini cfg conf properties env lock", 1200), "json": ("json ipynb map webmanifest", 2200), "xml": ("xml svg xsd plist csproj storyboard fsh", 900),
    "proto": ("proto thrift graphql avsc", 500), "html": ("html htm ejs hbs jinja j2 erb mustache", 1400), "css": ("css scss less sass", 700), "minified": ("min.js min.css", 700),
    "markdown": ("md mdx", 2600), "rst": ("rst adoc pod texi", 1500), "text": ("txt", 1000), "changelog": ("changelog.md changes.md history.md changelog.rst changes.rst changes.txt news.rst changelog changes", 1100),
    "csv": ("csv tsv dat", 700), "po": ("po pot", 700), "diff": ("diff patch", 300), "test": ("snap feature out log", 400),
    "prompt": ("prompt", 800),
}
ENDINGS = {ending: name for name, (endings, _) in CLASSES.items() for ending in endings.split()}
LANGUAGE_PIECES = 420
PER_FILE, PER_PACKAGE = 3, 90
FILE_MAX = 600_000
# Languages kept out of training, to see what the model makes of a language it does not know.
HELD_LANGUAGES = {"et", "hr", "ms", "sk", "sw"}

CUES = re.compile(
    r"copyright|\(c\)|©|author|licen[cs]e|maintain|contribut|\S@\S|(?:^|[\s(,])@[a-z]\w+\b(?!\s*[({:=])|e-?mail|thanks|written by|credit|signed-off|reported by"
    r"|patch (?:from|by)|github\.com/[\w-]+\b(?!/)|\bby [A-Z][a-z]+|TODO\(|FIXME\(|<\w+ at |inspired by|courtesy|born in|phd|\bdr\.|\bmr\.|\bmrs\.|\bms\. |\bprof\b", re.I)
WORD_PAIR = re.compile(r"\b([A-ZÀ-Þ][\w’'-]+)(?: [A-Z]\.?){0,2} ([A-ZÀ-Þ][\w’'-]+)")
TITLE_WORD = re.compile(r"\b[A-Z][a-z]{2,}\b")
# Given names that are far more often products, places or words where programs are concerned.
PRODUCTS = set("julia ruby crystal travis ada jade dart jasmine dora may june april august will mark grant bill frank rose hope grace faith joy dean "
               "page art ray max chase drew norm pat sue lane dale glen cliff rusty sandy amber violet olive ivy iris daisy holly misty summer autumn "
               "dawn eve star sky carol gene earl duke prince royal king reed rich rob nick chance victor angel jesus christian major guy lee see so in an un my so man many many le la li".split())


def is_held(label, package):
    """Kept out of training: one package in twelve, and some languages."""
    held = int(hashlib.md5(package.encode()).hexdigest()[:8], 16) % 12 == 5
    return label.removeprefix("language:") in HELD_LANGUAGES or held and not label.startswith("language:")


def words(path):
    return {line.strip().lower() for line in path.read_text(errors="ignore").splitlines() if line.strip()}


class People:
    """Tells lines in which somebody seems to be named."""

    def __init__(self, lists):
        safe = words(lists / "philter_safe_words.txt")
        census = words(lists / "census1990_first.txt")
        self.given = (census | words(lists / "libpostal_given_names.txt")) - PRODUCTS
        self.last = words(lists / "census1990_last.txt") | words(lists / "libpostal_surnames.txt")
        self.clear = {name for name in census if name not in safe and len(name) > 3} - PRODUCTS

    def named(self, line):
        for match in WORD_PAIR.finditer(line):
            one, two = match.group(1).lower(), match.group(2).lower()
            if one in self.given and (two in self.last or one in self.clear):
                return True
        return any(match.group().lower() in self.clear for match in TITLE_WORD.finditer(line))


def clean(text, people):
    return "\n".join(line for line in text.split("\n") if not CUES.search(line) and not people.named(line))


def cut(text, r):
    """A stretch of whole lines, or of whatever there is where lines are very long."""
    size = r.choice([600, 900, 1300, 1800, 2600])
    start = r.randrange(max(1, len(text) - size // 2))
    start = text.rfind("\n", 0, start) + 1 if "\n" in text[max(0, start - 2000):start] else start
    end = text.find("\n", start + size)
    end = start + size if end < 0 or end > start + 2 * size else end
    return text[start:end].strip("\n")


def class_of(path):
    name = path.lower().rsplit("/", 1)[-1]
    if "prompt" in path.lower() and name.endswith((".md", ".txt", ".ts", ".py", ".jinja", ".j2", ".yaml", ".toml", ".prompty")):
        return "prompt"
    parts = name.split(".")
    for ending in (name, ".".join(parts[-2:]), parts[-1] if len(parts) > 1 else ""):
        if ending in ENDINGS:
            return ENDINGS[ending]
    return "docker" if name.startswith("dockerfile") else None


def archive_files(path):
    """(path inside, bytes) of an archive of any usual kind."""
    data = path.read_bytes()
    if data[:2] == b"PK":
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for entry in archive.infolist():
                if entry.file_size < FILE_MAX:
                    yield entry.filename, archive.read(entry)
        return
    if data[:8] == b"!<arch>\n":  # a Debian package: data.tar.* is the third member
        data = subprocess.run(["dpkg-deb", "--fsys-tarfile", path], capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        for entry in archive:
            if entry.isfile() and entry.size < FILE_MAX:
                content = archive.extractfile(entry).read()
                yield entry.name, gzip.decompress(content) if entry.name.endswith(".gz") and entry.size < 200_000 else content


LANGUAGE = re.compile(r"(?:translations|docs|content|docs/src)/([a-z]{2,3})(?:[-_][A-Za-z]{2,4})?/.*\.md$")


def mirror_files(path):
    listing = subprocess.run(["git", "-C", path, "ls-tree", "-r", "-l", "HEAD"], capture_output=True, check=True, text=True).stdout
    entries = []
    for line in listing.splitlines():
        info, name = line.split("\t", 1)
        size = info.split()[3]
        if size.isdigit() and 400 < int(size) < FILE_MAX and class_of(name):
            entries.append((info.split()[2], name))
    r = random.Random(str(path))
    r.shuffle(entries)
    by_language, chosen = collections.Counter(), []
    for key, name in entries:
        match = LANGUAGE.search(name)
        language = match.group(1) if match and match.group(1) != "en" else None
        by_language[language] += 1
        if by_language[language] <= (150 if language else 900):
            chosen.append((key, name))
    wanted = "".join(key + "\n" for key, _ in chosen)
    output = subprocess.run(["git", "-C", path, "cat-file", "--batch"], input=wanted.encode(), capture_output=True).stdout
    place = 0
    for key, name in chosen:
        end = output.find(b"\n", place)
        header = output[place:end].split()
        if len(header) != 3:
            place = end + 1
            continue
        size = int(header[2])
        yield name, output[end + 1:end + 1 + size]
        place = end + 2 + size


STATE = {}


def start(lists):
    STATE["people"] = People(lists)


def pieces(job):
    """[(class or language, package, text)] of one archive or mirror."""
    kind, path, package = job
    r, found, per_class = random.Random(package), [], collections.Counter()
    try:
        files = list(mirror_files(path) if kind == "mirror" else archive_files(path))
    except (tarfile.TarError, zipfile.BadZipFile, EOFError, OSError, subprocess.CalledProcessError):
        return []
    r.shuffle(files)
    for name, content in files:
        kind_of_file = class_of(name)
        match = LANGUAGE.search(name)
        label = f"language:{match.group(1)}" if match and match.group(1) != "en" and kind == "mirror" else kind_of_file
        if not label or per_class[label] >= (PER_PACKAGE if kind != "mirror" else 300) or b"\0" in content[:2000]:
            continue
        text = content.decode("utf-8", "ignore").replace("\r\n", "\n")
        if kind_of_file == "po":
            text = "\n".join("".join(re.findall(r'"(.*)"', block)) for block in re.findall(r'^msgstr ((?:".*"\n)+)', text, re.M))
            match = re.search(r"/([a-z]{2,3})(?:_[A-Za-z]{2,4})?/LC_MESSAGES|(?:^|/)([a-z]{2,3})(?:_[A-Z]{2})?\.po$", name)
            docs = re.search(r"python-docs-([a-z]{2})", package)
            label = f"language:{docs.group(1) if docs else match.group(1) or match.group(2)}" if docs or match else "po"
        for _ in range(min(PER_FILE, 1 + len(text) // 4000)):
            piece = clean(cut(text, r), STATE["people"])
            if len(piece) >= 300:
                found.append((label, package, piece))
                per_class[label] += 1
    return found


def main():
    parser = argparse.ArgumentParser()
    for name in ("packages", "mirrors", "lists", "out"):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
    args = parser.parse_args()
    jobs = [("archive", path, path.name) for path in sorted(args.packages.iterdir()) if path.is_file()]
    jobs += [("mirror", path / "repo", path.name) for path in sorted(args.mirrors.iterdir()) if (path / "repo").is_dir()]
    by_class, seen = collections.defaultdict(list), set()
    with multiprocessing.Pool(2, start, (args.lists,)) as pool:
        for found in pool.imap_unordered(pieces, jobs):
            for label, package, text in found:
                key = hashlib.md5(text[:300].encode()).digest()
                if key not in seen:
                    seen.add(key)
                    by_class[label].append((package, text))
    r, chosen = random.Random(4), []
    for label, found in sorted(by_class.items()):
        r.shuffle(found)
        limit = LANGUAGE_PIECES if label.startswith("language:") else CLASSES[label][1]
        chosen += [(label, package, text) for package, text in found[:limit]]
        print(label, len(found), min(limit, len(found)), sum(len(text) for _, text in found[:limit]))
    with gzip.open(args.out, "wt", compresslevel=6) as file:
        json.dump(chosen, file, ensure_ascii=False)
    print(len(chosen), "pieces", sum(len(text) for _, _, text in chosen), "characters")


if __name__ == "__main__":
    main()
