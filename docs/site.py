#!/usr/bin/env python3
"""Builds the docs site from the pages of the repository with mdBook: docs/site.py [FOLDER]

The pages keep their places, so that their links hold. The table of contents is below; a page that it leaves out is an
error, and so is a link of the built site that leads nowhere.
"""

import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parents[1]

# Heading and pages, in the order of reading. The title of a page is its first heading.
CONTENTS = [
    ("Start", ["README.md", "docs/clients.md", "docs/providers.md"]),
    ("Owners", ["docs/policy.md", "docs/profiles.md", "docs/restore.md", "docs/documents.md", "docs/sign-in.md", "docs/reports.md"]),
    ("Operators", ["docs/operations.md", "docs/kubernetes.md", "docs/metrics.md", "docs/telemetry.md", "docs/exports.md", "docs/alerts.md"]),
    ("Developers", ["docs/service.md", "docs/repositories.md"]),
    ("Reference", ["docs/errors.md", "docs/parameters.md", "docs/phi-types.md", "docs/admin-api.md"]),
    ("Trust", ["docs/assurance.md", "docs/reliability.md", "docs/performance.md", "model/MODEL_CARD.md", "bench/peers/FIGURES.md", "SECURITY.md"]),
    ("Inside", ["ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"]),
]

# Pages for readers that are neither in docs/ nor at the top.
ELSEWHERE = ["model/MODEL_CARD.md", "bench/peers/FIGURES.md"]

BOOK = """[book]
title = "phigate"
language = "en"
src = "src"

[output.html]
default-theme = "light"
no-section-label = true

[output.html.fold]
enable = true
level = 1
"""


def pages() -> list[str]:
    """Every page for readers, by its path."""
    docs = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").glob("*.md"))
    return docs + [path.name for path in sorted(ROOT.glob("*.md"))] + ELSEWHERE


def decisions() -> list[str]:
    return sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs" / "decisions").glob("*.md"))


def title(page: str) -> str:
    """The first heading of a page."""
    found = re.search(r"^# (.+)$", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE)
    return found.group(1) if found else page


def summary() -> str:
    """The table of contents in mdBook's form."""
    listed = [page for _, group in CONTENTS for page in group]
    missing, gone = set(pages()) - set(listed), set(listed) - set(pages())
    if missing or gone:
        raise SystemExit(f"docs/site.py: not in the table of contents: {sorted(missing)}; not there: {sorted(gone)}")
    lines = ["# Contents", ""]
    for heading, group in CONTENTS:
        lines += [f"# {heading}", "", *(f"- [{title(page)}]({page})" for page in group), ""]
    lines += ["# Decisions", "", *(f"- [{title(page)}]({page})" for page in decisions()), ""]
    return "\n".join(lines)


def lay_out(book: Path) -> None:
    """Writes the source of the book."""
    shutil.rmtree(book, ignore_errors=True)
    source = book / "src"
    source.mkdir(parents=True)
    (book / "book.toml").write_text(BOOK, encoding="utf-8")
    (source / "SUMMARY.md").write_text(summary(), encoding="utf-8")
    texts = {page: (ROOT / page).read_text(encoding="utf-8") for page in pages() + decisions()}
    for page, text in texts.items():
        place = source / page
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
        # Files of the repository that a page leads to go with it; folders lead to their own place in the repository.
        for link in re.findall(r"\]\(([^)\s]+)\)", text):
            path = ROOT / Path(page).parent / unquote(link.split("#")[0])
            if "://" in link or not path.resolve().is_file():
                continue
            name = path.resolve().relative_to(ROOT)
            if name.as_posix() not in texts:
                (source / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, source / name)


class Page(HTMLParser):
    """Anchors and links of a built page."""

    def __init__(self, text: str):
        super().__init__()
        self.anchors, self.links = set(), []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        fields = dict(attributes)
        self.anchors.add(fields.get("id"))
        self.links += [fields[name] for name in ("href", "src") if fields.get(name)]


def is_folder(target: Path, site: Path) -> bool:
    """Whether a link leads to a folder of the repository."""
    return target.is_relative_to(site) and (ROOT / target.relative_to(site)).is_dir()


def broken(site: Path) -> list[str]:
    """Links of the built site that lead to no page, file or anchor of it."""
    built = {path: Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}
    wrong = []
    for path, page in built.items():
        if path.name in ("print.html", "404.html", "toc.html"):
            continue
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            # Folders of the repository are not part of the site.
            is_there = target.is_file() or is_folder(target, site)
            if is_there and parts.fragment and target in built:
                is_there = unquote(parts.fragment) in built[target].anchors
            if not is_there:
                wrong.append(f"{path.relative_to(site)}: {link}")
    return wrong


def main() -> None:
    book = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "target" / "site").resolve()
    lay_out(book)
    if not shutil.which("mdbook"):
        raise SystemExit("docs/site.py needs mdbook: cargo install mdbook")
    subprocess.run(["mdbook", "build", str(book)], check=True)
    wrong = broken(book / "book")
    if wrong:
        raise SystemExit("links that lead nowhere:\n" + "\n".join(wrong))
    print(book / "book" / "index.html")


if __name__ == "__main__":
    main()
