#!/usr/bin/env python3
"""Reports what every predicate, branch and pass of the detector decides.

    tests/coverage/run.py --texts notes.jsonl more.jsonl --out target/coverage

Copies the detector to a folder, writes a switch into each of its decisions (`src/main.rs`), builds one program of the copy
(`driver.rs`) and scans all readable texts with it: those of `model/kept` and `model/written`, the examples of the kinds'
tables, the strings of the detector's tests, and files of `{"text","spans"}` given with --texts. Then each switch is held at
true and at false, and the texts in which it had said otherwise are scanned again.

`report.tsv` has one row per switch and answer: file, line, form, texts in which it said true and false, texts looked at, texts
whose findings changed (the measure ends at --stop), examples changed, letters of PHI found and harmless letters covered,
more or fewer, and the files of the texts. A row with no change is code that nothing needs. Run it again to go on after a stop.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "model"))
import marked  # noqa: E402

# Rooms whose code decides what is PHI. Readers of formats, the models and the budget are proven by tests of their own.
ROOMS = ["lib.rs", "rules", "people", "places", "context", "dates", "doubts.rs", "tidy.rs", "misread.rs", "spelled.rs", "page/spoken.rs", "page/phrases.rs"]
FILE = "texts.jsonl"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", nargs="*", default=[], type=pathlib.Path, help="files of labelled texts")
    parser.add_argument("--complete", type=pathlib.Path, help="JSON: for each source the types whose labels are complete")
    parser.add_argument("--each", type=int, default=600, help="texts of each file at most")
    parser.add_argument("--rooms", nargs="*", default=ROOMS)
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "target/coverage")
    parser.add_argument("--stop", type=int, default=3)
    parser.add_argument("--most", type=int, default=600)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--keep", action="store_true", help="hold what changes nothing for the measures behind it")
    return parser.parse_args()


def cargo(folder, *words, **more):
    environment = {**os.environ, "CARGO_PROFILE_RELEASE_LTO": "off", "CARGO_PROFILE_RELEASE_CODEGEN_UNITS": "16",
                   "CARGO_PROFILE_RELEASE_DEBUG": "false", "CARGO_INCREMENTAL": "0", "RUSTFLAGS": "-Awarnings", "RUSTC_WRAPPER": ""}
    return subprocess.run(["cargo", *words], cwd=folder, env=environment, **more)


def copy(folder):
    """A workspace with a copy of the detector and the driver."""
    for crate in ["phi-detect", "phi-kernels"]:
        to = folder / "crates" / crate
        shutil.rmtree(to, ignore_errors=True)
        to.mkdir(parents=True)
        for part in ["Cargo.toml", "build.rs", "src"]:
            origin = ROOT / "crates" / crate / part
            if origin.is_dir():
                shutil.copytree(origin, to / part)
            elif origin.exists():
                shutil.copy(origin, to / part)
    manifest = folder / "crates/phi-detect/Cargo.toml"
    manifest.write_text(manifest.read_text().split("[dev-dependencies]")[0].replace("autotests = false\n", ""))
    workspace = re.sub(r"members = .*", 'members = ["crates/*", "driver"]', (ROOT / "Cargo.toml").read_text())
    (folder / "Cargo.toml").write_text(workspace.split("[workspace.lints")[0] + "[workspace.lints.rust]\n")
    shutil.copy(ROOT / "Cargo.lock", folder)
    driver = folder / "driver"
    (driver / "src").mkdir(parents=True, exist_ok=True)
    (driver / "Cargo.toml").write_text(
        '[package]\nname = "driver"\nversion = "0.1.0"\nedition = "2024"\n'
        "[dependencies]\nphi-detect.workspace = true\nserde_json.workspace = true\n")
    shutil.copy(HERE / "driver.rs", driver / "src/main.rs")


def replaced(path, old, new):
    text = path.read_text()
    if text.count(old) != 1:
        sys.exit(f"{path} changed: {old!r} is not there once")
    path.write_text(text.replace(old, new))


def remembering(source):
    """The copy asks its models once per text."""
    with (source / "lib.rs").open("a") as out:
        out.write("#[doc(hidden)]\npub mod switch;\n")
    replaced(source / "names/mod.rs", "pub(crate) fn tag(\n    level: Level,\n    text: &str,", "pub(crate) fn tag(\n    level: Level, text: &str, is_unwanted: Option<&dyn Fn(usize) -> bool>, budget: &Budget<'_>, out: &mut List<Candidate>) {\n    crate::switch::tagged(text, is_unwanted, out, |out| tag_anew(level, text, is_unwanted, budget, out))\n}\n\nfn tag_anew(\n    level: Level,\n    text: &str,")
    replaced(source / "reader/opinion.rs", "pub(crate) fn read(\n", "pub(crate) fn read(\n    level: Level, text: &str, stretches: &[Range<usize>], is_wanted: impl Fn(PhiKind) -> bool, budget: &Budget<'_>) -> Vec<Opinion> {\n    crate::switch::read(text, stretches, || read_anew(level, text, stretches, is_wanted, budget))\n}\n\nfn read_anew(\n")


def instrument(folder, rooms):
    """Writes the switches; takes out those that the compiler refuses."""
    except_ = folder / "except.txt"
    except_.touch()
    source = folder / "crates/phi-detect/src"
    if cargo(HERE, "build", "--release", "--offline", "--target-dir", str(folder / "tool")).returncode:
        sys.exit("the tool does not compile")
    while True:
        copy(folder)
        remembering(source)
        files = []
        for room in rooms:
            path = source / room
            files += [path] if path.is_file() else sorted(path.rglob("*.rs"))
        files = [str(path.relative_to(source)) for path in files]
        rows = subprocess.run([folder / "tool/release/phi-coverage", source, except_, *files], check=True, capture_output=True, text=True).stdout
        (folder / "switches.tsv").write_text(rows)
        rows = [row.split("\t") for row in rows.splitlines()]
        switch = (HERE / "switch.rs").read_text().replace("COUNT: usize = 0", f"COUNT: usize = {len(rows)}")
        (source / "switch.rs").write_text(switch)
        print(f"{len(rows)} switches", flush=True)
        output = cargo(folder, "check", "--release", "--offline", "-p", "phi-detect", "--message-format=json", stdout=subprocess.PIPE, text=True)
        if output.returncode == 0:
            return
        refused = {place for place in map(lambda line: refusal(folder, json.loads(line), rows), output.stdout.splitlines()) if place}
        if not refused:
            sys.exit("the copy does not compile, and not because of a switch")
        with except_.open("a") as out:
            out.writelines(f"{place}\n" for place in sorted(refused))


def refusal(folder, message, rows):
    """The switch that an error of the compiler is about."""
    message = message.get("message") or {}
    if message.get("level") != "error":
        return None
    for span in sorted(message["spans"], key=lambda span: not span["is_primary"]):
        path = folder / span["file_name"]
        if path.exists() and "phi-detect/src" in span["file_name"]:
            before = path.read_bytes()[:span["byte_end"]].decode()
            numbers = re.findall(r"crate::switch::\w+\((\d+)", before)
            if numbers:
                row = rows[int(numbers[-1])]
                return f"{row[1]}:{row[3]}:{row[5]}"
    return None


def texts(folder, options):
    rows = []
    for part in ["kept", "written"]:
        for path in sorted((ROOT / "model" / part).rglob("*.txt")):
            for one in marked.split(path):
                text, spans = marked.parse(one)
                spans = [{"start": start, "end": end, "type": kind} for start, end, kind in spans]
                rows.append({"file": str(path.relative_to(ROOT / "model")), "text": text, "spans": spans, "types": marked.COMPLETE})
    complete = json.loads(options.complete.read_text()) if options.complete else {}
    for path in options.texts:
        lines = path.read_text().splitlines()
        step = max(1, len(lines) // options.each)
        for line in lines[::step][:options.each]:
            row = json.loads(line)
            source = row.get("source", path.stem)
            rows.append({"file": path.stem, "text": row["text"], "spans": row.get("spans", []), "types": complete.get(source, row.get("types", []))})
    for path in sorted((ROOT / "crates/phi-detect/src/kinds").glob("*.rs")):
        code = path.read_text()
        for name in ["hits", "misses"]:
            table = re.search(rf"\n    {name}: &\[(.*?)\n    \],", code, re.S)
            for text in strings(table.group(1)) if table else []:
                rows.append({"file": f"examples/{path.stem}.{name}", "text": re.sub("[«»]", "", text), "only": path.stem})
    for path in sorted((ROOT / "crates/phi-detect/tests").glob("*.rs")):
        for text in strings(path.read_text()):
            if " " in text and len(text) > 12:
                rows.append({"file": f"examples/{path.name}", "text": text})
    with (folder / FILE).open("w") as out:
        out.writelines(json.dumps(row) + "\n" for row in rows)
    print(f"{len(rows)} texts", flush=True)


def strings(code):
    """The string literals of Rust code."""
    escapes = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "\\": "\\", '"': '"', "'": "'"}
    pattern = r'//[^\n]*|\br(#*)"(.*?)"\1|"((?:[^"\\]|\\.)*)"'
    for match in re.finditer(pattern, code, re.S):
        if match.group(2) is not None:
            yield match.group(2)
        elif match.group(3) is not None:
            text = re.sub(r"\\\n\s*", "", match.group(3))
            text = re.sub(r"\\u\{([0-9a-fA-F]+)\}", lambda one: chr(int(one.group(1), 16)), text)
            text = re.sub(r"\\x([0-9a-fA-F]{2})", lambda one: chr(int(one.group(1), 16)), text)
            yield re.sub(r"\\(.)", lambda one: escapes.get(one.group(1), one.group(1)), text, flags=re.S)


def main():
    options = arguments()
    folder = options.out.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "driver.built").exists():
        instrument(folder, options.rooms)
        texts(folder, options)
        if cargo(folder, "build", "--release", "--offline", "-p", "driver").returncode:
            sys.exit("the driver does not compile")
        (folder / "driver.built").touch()
        (folder / "report.tsv").unlink(missing_ok=True)
    program = [folder / "target/release/driver", folder / FILE, folder / "switches.tsv", folder / "report.tsv"]
    program += ["--stop", str(options.stop), "--most", str(options.most), "--threads", str(options.threads)]
    sys.exit(subprocess.run(program + (["--keep"] if options.keep else [])).returncode)


if __name__ == "__main__":
    main()
