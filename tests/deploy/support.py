"""Places and programs that the tests of deploy/ and docs/ share."""

import re
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ROOT / "target" / "deploy"


def read(path: str) -> str:
    """The text of a file of the repository."""
    return (ROOT / path).read_text(encoding="utf-8")


def program(name: str) -> str:
    """The path of a program that tests/deploy/run.sh installed, or of the system's."""
    own = [TOOLS / "venv" / "bin" / name, *TOOLS.glob(f"*/usr/bin/{name}")]
    found = next((str(path) for path in own if path.exists()), None) or shutil.which(name)
    if not found:
        raise AssertionError(f"{name} is missing: start the tests with tests/deploy/run.sh")
    return found


def run(*command: str, text: str | None = None) -> str:
    """The output of a program that has to succeed."""
    done = subprocess.run(command, cwd=ROOT, input=text, text=True, capture_output=True)
    if done.returncode:
        raise AssertionError(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


def metrics() -> dict[str, tuple[str, set[str]]]:
    """Kind and labels of every metric in the table of docs/metrics.md."""
    row = re.compile(r"^\| `(phigate_\w+)` \| (counter|gauge|histogram) \|([^|]*)\|", re.MULTILINE)
    return {name: (kind, set(re.findall(r"`(\w+)`", labels))) for name, kind, labels in row.findall(read("docs/metrics.md"))}


def headings(text: str) -> set[str]:
    """The anchors of a page in Markdown, as GitHub and mdBook make them."""
    anchors, seen = set(), {}
    for heading in re.findall(r"^#{1,6} (.+?)\s*$", without_blocks(text), re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        anchor = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        again = seen[anchor] = seen.get(anchor, -1) + 1
        anchors.add(f"{anchor}-{again}" if again else anchor)
    return anchors


def without_blocks(text: str) -> str:
    """A page without its blocks of code."""
    return re.sub(r"^(```+).*?^\1\s*$", "", text, flags=re.MULTILINE | re.DOTALL)


def target_exists(page: str, link: str) -> bool:
    """Whether a link of a page leads to a file of the repository, and its anchor to a heading there."""
    path, _, anchor = link.partition("#")
    place = (ROOT / page).parent / path if path else ROOT / page
    if not place.exists():
        return False
    return not anchor or place.suffix != ".md" or anchor in headings(place.read_text(encoding="utf-8"))
