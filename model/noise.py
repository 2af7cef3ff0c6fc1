"""Harmless material made up from scratch: logs, stack traces, tables of codes, dumps, schemas, labels, lists.

Everything here is free of PHI, and much of it holds words that are also somebody's name, in places where no
person stands: a variable, a host, a package, a code, a column.
"""

import base64
import re

import values as V

LEVELS = "INFO WARN ERROR DEBUG TRACE NOTICE info warn error debug".split()
SUFFIXES = "Service Manager Handler Factory Client Server Reader Writer Parser Builder Context Config Store Cache Node Event Worker Adapter Kind Error Type Test Impl Stream".split()
VERBS = "get set load save parse build make find send read write open close init run start stop update delete check test handle create render fetch push pop".split()
EXTENSIONS = "py js ts go rs java rb cs php kt c cpp h swift yml json toml md txt log lock sh html css".split()
TOOLS = "git npm cargo docker kubectl pip make curl grep sed awk tar ssh systemctl terraform helm yarn mvn gradle apt dnf brew".split()


class Words:
    """Words for identifiers: ordinary ones, invented ones, and names that are nobody here."""

    def __init__(self, r, names):
        self.r, self.names = r, names

    def word(self):
        r, t, u = self.r, self.names.table, self.r.random()
        pool = self.names.safe if u < 0.5 else self.names.ambiguous if u < 0.65 else t["invented"] if u < 0.88 else t["rare_last"]
        return re.sub("[^a-z]", "", r.choice(pool).lower())[:14] or "value"

    def identifier(self):
        r, u = self.r, self.r.random()
        one, two = self.word(), self.word()
        if u < 0.2:
            return one
        if u < 0.4:
            return f"{one}_{two}"
        if u < 0.55:
            return one + two.capitalize()
        if u < 0.75:
            return one.capitalize() + r.choice(SUFFIXES)
        if u < 0.85:
            return f"{one}-{two}"
        return r.choice(VERBS) + r.choice(["_" + one, one.capitalize()])

    def path(self):
        r = self.r
        return r.choice(["/", "./", "src/", "C:\\", "/usr/lib/", "/var/", "node_modules/"]) + "/".join(self.identifier() for _ in range(r.randint(1, 4))) + "." + r.choice(EXTENSIONS)

    def value(self):
        r = self.r
        return r.choice([lambda: str(r.randint(0, 99999)), self.identifier, self.path, lambda: f"{r.randint(1, 900)}ms", lambda: "true", lambda: f'"{self.word()}"',
                         lambda: f"{r.getrandbits(48):x}", lambda: f"{r.randint(1, 223)}.{r.randint(0, 255)}.{r.randint(0, 255)}.{r.randint(1, 254)}", lambda: f"v{r.randint(0, 9)}.{r.randint(0, 30)}.{r.randint(0, 9)}"])()

    def sentence(self, low=3, high=9):
        return " ".join(self.r.choice(self.names.safe) if self.r.random() < 0.8 else self.identifier() for _ in range(self.r.randint(low, high)))


def stamp(r):
    d = V.other_date(r)
    clock = f"{r.randint(0, 23):02}:{r.randint(0, 59):02}:{r.randint(0, 59):02}"
    return r.choice([f"{d.isoformat()}T{clock}.{r.randint(0, 999):03}Z", f"{d.isoformat()} {clock},{r.randint(0, 999):03}", f"{d.strftime('%b %d')} {clock}", f"{d.strftime('%d/%b/%Y')}:{clock} +0000",
                     clock, f"{d.isoformat()} {clock}", f"[{d.strftime('%a %b %d')} {clock} {d.year}]", f"{d.strftime('%m/%d/%y')} {clock}", str(r.randint(1_500_000_000, 1_900_000_000)), f"{d.strftime('%Y%m%d')}-{clock}", f"{d.day}.{d.month}.{d.year} {clock}"])


def logs(r, w):
    style, host, process = r.randrange(9), w.identifier(), w.identifier()
    when = r.random()
    lines = []
    for _ in range(r.randint(6, 22)):
        time = stamp(r) if when < 0.3 else stamp(r).split(".")[0]
        pairs = " ".join(f"{w.word()}={w.value()}" for _ in range(r.randint(1, 5)))
        lines.append([
            f"{time} {r.choice(LEVELS)} [{w.identifier()}] {w.word()}.{w.word()}.{w.word().capitalize()}{r.choice(SUFFIXES)} - {w.sentence()}",
            f"{time} {host} {process}[{r.randint(1, 65000)}]: {w.sentence()}",
            f"time={time} level={r.choice(LEVELS)} msg=\"{w.sentence()}\" {pairs}",
            f'{{"ts":"{time}","level":"{r.choice(LEVELS).lower()}","logger":"{w.identifier()}","msg":"{w.sentence()}","{w.word()}":{r.randint(0, 999)}}}',
            f'{r.randint(1, 223)}.{r.randint(0, 255)}.{r.randint(0, 255)}.{r.randint(1, 254)} - - [{time}] "{r.choice(["GET", "POST", "PUT"])} /{w.word()}/{w.identifier()}?{w.word()}={r.randint(1, 99)} HTTP/1.1" {r.choice([200, 204, 301, 404, 500])} {r.randint(0, 99999)} "-" "Mozilla/5.0"',
            f"[{time}] {w.identifier()}: {w.sentence()} ({pairs})",
            f"{r.choice(LEVELS)}:{w.word()}.{w.word()}:{w.sentence()}",
            f"{r.choice(['I', 'W', 'E'])}{r.randint(101, 1231):04} {time} {r.randint(1, 99999)} {w.word()}.go:{r.randint(1, 900)}] {w.sentence()} {pairs}",
            f"{r.choice(['Get', 'Hit', 'Unpacking', 'Setting up', 'Compiling', 'Downloading', 'Installing', 'Removing', 'Step', 'Pulling', 'Checking'])}:{r.randint(1, 80)} {w.identifier()} {r.choice(['', 'v', '('])}{r.randint(0, 20)}.{r.randint(0, 40)}.{r.randint(0, 9)} {w.sentence(0, 4)}",
        ][style])
    return "\n".join(lines)


def trace(r, w):
    kind, lines = r.randrange(6), []
    for _ in range(r.randint(4, 16)):
        module = ".".join(w.word() for _ in range(r.randint(2, 4)))
        lines += [
            [f'  File "{w.path()}", line {r.randint(1, 3000)}, in {w.identifier().replace("-", "_")}', f"    {w.word()} = {w.word()}.{w.word()}({w.word()}, {w.word()}={w.value()})"],
            [f"\tat {module}.{w.word().capitalize()}{r.choice(SUFFIXES)}.{r.choice(VERBS)}{w.word().capitalize()}({w.word().capitalize()}.java:{r.randint(1, 900)})"],
            [f"    at {r.choice(['async ', 'Object.', '', ''])}{w.identifier()} ({w.path()}:{r.randint(1, 900)}:{r.randint(1, 90)})"],
            [f"{w.word()}.{w.identifier()}(0x{r.getrandbits(40):x}, 0x{r.randint(0, 64):x})", f"\t{w.path()}:{r.randint(1, 900)} +0x{r.getrandbits(10):x}"],
            [f"  {r.randint(0, 40)}: {w.word()}::{w.word()}::{w.identifier()}", f"             at {w.path()}:{r.randint(1, 900)}:{r.randint(1, 60)}"],
            [f"   at {module}.{w.word().capitalize()}.{w.word().capitalize()}({w.word().capitalize()} {w.word()}) in {w.path()}:line {r.randint(1, 900)}"],
        ][kind]
    head = ["Traceback (most recent call last):", f"Exception in thread \"{w.identifier()}\" java.lang.{r.choice(['IllegalStateException', 'NullPointerException', 'RuntimeException'])}: {w.sentence()}",
            f"TypeError: {w.sentence()}", f"panic: runtime error: {w.sentence()}\n\ngoroutine {r.randint(1, 90)} [running]:", f"thread 'main' panicked at {w.path()}:{r.randint(1, 900)}:\n{w.sentence()}\nstack backtrace:", f"Unhandled exception. System.{w.word().capitalize()}Exception: {w.sentence()}"][kind]
    tail = f"\n{w.word().capitalize()}Error: {w.sentence()}" if kind == 0 else ""
    return head + "\n" + "\n".join(lines) + tail


def table(r, w):
    """Codes, places, dates, measurements: whatever stands in a table of no person."""
    n = w.names
    makers = {
        "code": lambda: r.choice([V.acronym(r), f"{V.acronym(r)}-{r.randint(1, 99)}", "".join(r.choice("ABCDEFGHIJKLMNOPQRSTUVWXYZ") for _ in range(3)), f"{r.choice('ABCDEFGHIJKLMNRSTZ')}{r.randint(0, 99):02}.{r.randint(0, 9)}"]),
        "city": lambda: r.choice(n.cities), "country": lambda: r.choice(V.COUNTRIES), "county": lambda: r.choice(n.counties), "state": lambda: r.choice(V.STATES),
        "airport": lambda: f"{r.choice(n.cities)} {r.choice(['International Airport', 'Airport', 'Regional', 'Municipal', 'Field', 'Heliport'])}",
        "date": lambda: V.full_date(r, V.other_date(r)), "iso": lambda: V.other_date(r).isoformat(), "old": lambda: V.birth_date(r).isoformat(), "year": lambda: str(r.randint(1900, 2030)),
        "lat": lambda: f"{r.uniform(-90, 90):.5f}", "count": lambda: str(r.randint(0, 99999)), "share": lambda: f"{r.random():.3f}", "drug": lambda: V.invented_drug(r) if r.random() < 0.5 else r.choice(V.DRUGS),
        "dx": lambda: r.choice(V.DISEASES), "lab": lambda: r.choice(V.LABS), "word": w.word, "Word": lambda: w.word().capitalize(), "WORD": lambda: w.word().upper(), "id": w.identifier, "url": lambda: f"https://{w.word()}.example/{w.word()}",
        "uuid": lambda: uuid(r), "hex": lambda: f"{r.getrandbits(32):08x}", "title": lambda: w.sentence(2, 5).capitalize(), "product": lambda: f"{w.word().capitalize()} {w.word().capitalize()}", "currency": lambda: r.choice(["USD", "EUR", "GBP", "JPY", "CHF", "INR"]),
        "team": lambda: f"{r.choice(n.cities)} {w.word().capitalize()}s", "language": lambda: r.choice(V.LANGUAGES), "status": lambda: r.choice(["active", "closed", "open", "N/A", "pending", "yes", "no"]),
        "company": lambda: f"{r.choice(n.table['last'])} {r.choice(['Ltd', 'Inc', 'LLC', 'GmbH', 'Corp', 'Group', 'Motors', 'Foods'])}",
    }
    columns = r.sample(sorted(makers), r.randint(2, 7))
    sep = r.choice([",", ",", ",", "\t", ";", " | ", ", ", "  "])
    heads = {"city": ["city", "town", "municipality", "place", "name"], "airport": ["airport", "name"], "country": ["country", "nation", "name", "Country Name"], "old": ["date", "founded", "day", "period", "observed"],
             "iso": ["date", "released", "created_at", "day"], "product": ["product", "name", "item", "model"], "Word": ["name", "label", "genus", "brand", "species"], "company": ["company", "supplier", "name", "vendor"], "team": ["team", "club"]}
    lines = [sep.join(r.choice(heads.get(column, [column, w.word()])) for column in columns)] if r.random() < 0.8 else []
    quote = r.choice(["", "", '"'])
    for _ in range(r.randint(4, 25)):
        lines.append(sep.join(quote + makers[column]() + quote for column in columns))
    return "\n".join(lines)


def uuid(r):
    text = f"{r.getrandbits(128):032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def dump(r, w):
    kind, size = r.randrange(8), r.randint(4, 24)
    data = bytes(r.getrandbits(8) for _ in range(size * 48))
    if kind == 0:
        return "\n".join(f"{i * 16:08x}  {data[i * 16:i * 16 + 8].hex(' ')}  {data[i * 16 + 8:i * 16 + 16].hex(' ')}  |{''.join(chr(b) if 32 < b < 127 else '.' for b in data[i * 16:i * 16 + 16])}|" for i in range(size))
    if kind == 1:
        text = base64.b64encode(data).decode()
        return r.choice([text, "\n".join(text[i:i + 76] for i in range(0, len(text), 76)), f"data:image/png;base64,{text}", f'"{w.word()}": "{text}"'])
    if kind == 2:
        return r.choice(["\n", ", ", "\n- "]).join(uuid(r) for _ in range(size * 2))
    if kind == 3:
        return r.choice(["\n", ", ", " ", ",\n  "]).join(str(r.choice([r.randint(0, 255), r.randint(0, 10 ** 6), r.randint(10 ** 8, 10 ** 11)])) for _ in range(size * 8))
    if kind == 4:
        return f"{r.choice(['static const unsigned char', 'uint8_t', 'let', 'const'])} {w.word()}[] = {{\n" + ",\n".join("  " + ", ".join(f"0x{b:02x}" for b in data[i * 12:i * 12 + 12]) for i in range(size)) + "\n};"
    if kind == 5:
        return "\n".join(f"{r.getrandbits(256):064x}  {w.path()}" for _ in range(size))
    if kind == 6:
        return "\n".join("\t".join(f"{r.uniform(-99, 999):.{r.randint(0, 5)}f}" for _ in range(r.randint(3, 8))) for _ in range(size))
    return "\n".join(f"{w.identifier()}: {r.choice([uuid(r), f'{r.getrandbits(64):x}', str(r.getrandbits(40))])}" for _ in range(size))


SQL_TYPES = "TEXT VARCHAR(255) INTEGER BIGINT DATE TIMESTAMP BOOLEAN NUMERIC(10,2) UUID CHAR(2) JSONB REAL SERIAL int text date varchar(40) NVARCHAR(100) DATETIME2".split()
FIELDS = "first_name last_name given_name family_name middle_name patient_name dob birth_date address addr1 addr2 street city zip phone email mrn ssn gender race provider attending nurse guardian next_of_kin contact name full_name birth_place maiden_name member_id".split()


def schema(r, w):
    fields = r.sample(FIELDS, r.randint(3, 9)) + [w.word() + r.choice(["", "_id", "_at", "_code", "_name"]) for _ in range(r.randint(1, 6))]
    r.shuffle(fields)
    kind = r.randrange(7)
    if kind == 0:
        body = ",\n".join(f"  {field} {r.choice(SQL_TYPES)}{r.choice(['', '', ' NOT NULL', ' PRIMARY KEY', ' DEFAULT NULL', f' REFERENCES {w.word()}(id)'])}" for field in fields)
        return f"CREATE TABLE {r.choice(['', 'IF NOT EXISTS ', 'public.'])}{r.choice(['patient', 'person', 'encounter', w.word()])} (\n{body}\n);\nCREATE INDEX {w.word()}_idx ON {w.word()} ({', '.join(fields[:2])});"
    if kind == 1:
        return ", ".join(f"{field} {r.choice(SQL_TYPES)}" for field in fields)
    if kind == 2:
        properties = ", ".join(f'"{field}": {{"type": "string", "description": "{w.sentence().capitalize()}."}}' for field in fields)
        return f'{{"type": "function", "function": {{"name": "{w.identifier()}", "description": "{w.sentence(6, 14).capitalize()}.", "parameters": {{"type": "object", "properties": {{{properties}}}, "required": ["{fields[0]}"]}}}}}}'
    if kind == 3:
        return f"message {w.word().capitalize()} {{\n" + "\n".join(f"  {r.choice(['string', 'int32', 'bool', 'repeated string', w.word().capitalize()])} {field} = {i + 1};" for i, field in enumerate(fields)) + "\n}"
    if kind == 4:
        return f"class {w.word().capitalize()}{r.choice(SUFFIXES)}:\n" + "\n".join(f"    {field}: {r.choice(['str', 'int', 'date', 'str | None', 'Optional[str]'])}{r.choice(['', ' = None', f' = Field(..., description={chr(34)}{w.sentence()}{chr(34)})'])}" for field in fields)
    if kind == 5:
        return r.choice([",", "|", "\t", ";"]).join(field.upper() if r.random() < 0.2 else field for field in fields) + "\n"
    return "\n".join(f"| {field} | {r.choice(SQL_TYPES)} | {w.sentence().capitalize()}. |" for field in fields)


def label(r, w):
    """In the manner of drug labels, code lists and terminology definitions."""
    drug, other = V.invented_drug(r).split(" ")[0], r.choice(V.DRUGS)
    parts = []
    for _ in range(r.randint(3, 9)):
        parts.append(r.choice([
            lambda: f"{r.randint(1, 17)}.{r.randint(1, 9)} {w.sentence(2, 5).title()}\n{drug} is indicated for the treatment of {r.choice(V.DISEASES)} in adults and patients {r.randint(2, 18)} years of age and older.",
            lambda: f"Coadministration of {drug} with {other} increased exposure by {r.randint(10, 300)}%. Avoid use with strong CYP{r.randint(1, 3)}A{r.randint(1, 9)} inhibitors such as {r.choice(V.DRUGS)}.",
            lambda: f"The most common adverse reactions (incidence {r.randint(2, 10)}%) were {r.choice(V.SYMPTOMS)}, {r.choice(V.SYMPTOMS)} and {r.choice(V.SYMPTOMS)}.",
            lambda: f"{r.choice('ABCDEFGHIJKLMNRSTZ')}{r.randint(0, 99):02}.{r.randint(0, 9)}\t{r.choice(V.DISEASES).capitalize()}, {r.choice(['unspecified', 'left eye', 'initial encounter', 'in remission', 'bilateral', 'with mention of ' + r.choice(V.SYMPTOMS)])}",
            lambda: f"Store {drug} at {r.randint(2, 25)}°C. Keep tablets of {r.randint(5, 500)} mg in the original carton. NDC {r.randint(10000, 99999)}-{r.randint(100, 999)}-{r.randint(10, 99)}",
            lambda: f"{r.randint(10 ** 6, 10 ** 9)} |{r.choice(V.DISEASES).capitalize()} ({r.choice(['disorder', 'finding', 'procedure', 'body structure'])})|",
            lambda: f"{r.choice(V.EPONYMS)} {r.choice(V.BODY)}: {w.sentence()}.",
            lambda: f"Stage {r.choice(['I', 'II', 'IIIA', 'IVB'])} (T{r.randint(1, 4)}N{r.randint(0, 2)}M{r.randint(0, 1)}) {r.choice(V.DISEASES)}; grade {r.randint(1, 4)}.",
        ])())
    return "\n".join(parts)


def listing(r, w):
    """Commands, packages, settings, headings, steps."""
    kind = r.randrange(7)
    lines = []
    for _ in range(r.randint(5, 18)):
        lines.append([
            f"{r.choice(['$ ', '', '# ', '> '])}{r.choice(TOOLS)} {w.word()} {r.choice(['--', '-'])}{w.word()}{r.choice([' ', '='])}{w.value()}",
            f"{w.identifier()}{r.choice(['==', '@', ' ^', '>='])}{r.randint(0, 30)}.{r.randint(0, 30)}.{r.randint(0, 9)}",
            f"{w.word()}{r.choice(['.', '_', '-'])}{w.word()} = {w.value()}",
            f"      - name: {r.choice(['Set up', 'Install', 'Build', 'Run', 'Upload', 'Cache', 'Check', 'Publish', 'Lint'])} {w.identifier()}\n        {r.choice(['run', 'uses', 'with'])}: {w.identifier()}/{w.identifier()}@v{r.randint(1, 6)}",
            f"{r.choice(['-', '*', '1.'])} {r.choice(['Always', 'Never', 'Do not', 'Prefer', 'Use', 'When asked,', 'If unsure,', 'You must', 'Make sure to'])} {w.sentence(5, 14)}{r.choice(['.', '.', ' via the `' + w.identifier() + '` tool.'])}",
            f"{'  ' * r.randint(0, 3)}{w.identifier()}: {w.value()}",
            f"<{r.choice(['div', 'span', 'td', 'li', 'a', 'p'])} class=\"{w.identifier()}\">{w.sentence(1, 6).capitalize()}</{r.choice(['div', 'span', 'td', 'li', 'a', 'p'])}>",
        ][kind])
    return "\n".join(lines)


def letters(r, w):
    """Single letters where programs, forms and tests have them."""
    def one():
        return r.choice("abcdefghijklmnopqrstuvwxyz")
    lines = []
    for _ in range(r.randint(2, 8)):
        a, b, c = one(), one(), one()
        lines.append(r.choice([
            f'{{"{a} {b}": {r.randint(0, 9)}, "{c} {a}": null}}', f'<input name="{a}, {b}.{r.choice(["pdf", "csv", "png"])}">', f'open("{a}, {b}.pdf")', f"f({a}, {b}) = {c}",
            f"choices: {a.upper()}, {b.upper()}, {c.upper()}", f"{a} b {c} d", f"for {a}, {b} in {w.word()}:", f"answer {r.randint(1, 40)} {a}, {r.randint(1, 40)} {b} {c}", f'"{a}, {b}", "{b}, {c}"',
            f"type {a.upper()} {b.upper()} vs {c.upper()}", f"let ({a}, {b}) = ({b}, {c});", f"x y z\n{a} {b} {c}"]))
    return "\n".join(lines)


def quiz(r, w):
    """Questions whose answer is a place, a thing or a word that is also somebody's name."""
    n, lines = w.names, []
    for _ in range(r.randint(1, 5)):
        place = r.choice(n.cities) if r.random() < 0.7 else r.choice(V.COUNTRIES) if r.random() < 0.5 else r.choice(n.table["given"])
        question = r.choice(["Which city is the largest in {}?", "What is the capital of {}?", "Which town lies north of {}?", "Name a city in {}.", "Where was the treaty of {} signed?", "Which airport serves {}?",
                             "What county is it in?", "Where is the plant near {}?", "Which river runs through {}?", "Where do most tourists in {} go?"]).format(r.choice(V.STATES + V.COUNTRIES))
        lead = r.choice([("User: ", "Assistant: "), ("Q: ", "A: "), ("", ""), ("Human: ", "AI: "), ("", "- "), ("> ", "")])
        tail = r.choice(["", ".", ", I think.", f". {r.choice(n.cities)} is second.", " (" + r.choice(V.STATES) + ")", f", not {r.choice(n.cities)}."])
        lines.append(f"{lead[0]}{question}{r.choice([chr(10), ' ', chr(10)])}{lead[1]}{place}{tail}")
    return "\n".join(lines)


def rules(r, w):
    """Tables of patterns and cues, and lists of words, one to a line."""
    kind, lines = r.randrange(3), []
    for _ in range(r.randint(6, 20)):
        cue = r.choice(["no", "was", "were", "denies", "rule out", "absence of", "is", "are", "without", "but", "apart from", "Mr", "Dr", "vs", "e.g", w.word()])
        lines.append([f"{cue}{r.choice([':', '', chr(92) + '.'])}{r.choice([chr(92) + 's+', chr(92) + 'n+', ''])}{chr(92)}c\t{r.randint(1, 9)}\t{w.word()[:6]}", f"{cue}\t{V.acronym(r)}",
                      r.choice(["thanks", "best", "love", "regards", "yours", w.word(), w.word(), w.word(), w.word(), w.word()])][kind])
    return "\n".join(lines)


def airfields(r, w):
    n, lines = w.names, ["iata,name,city,state,country,lat,long"]
    for _ in range(r.randint(4, 14)):
        field = r.choice(["", "", "", "Col. ", "Gen. ", "Capt. ", "Lt. ", "St. ", "Mt. "]) + r.choice(n.table["last"] if r.random() < 0.6 else n.cities) + r.choice(["", "", " Field", " Municipal", " County", " Memorial", " Airpark", " Regional"])
        lines.append(f"{''.join(r.choice('ABCDEFGHJKLMNPRSTUVWX0123456789') for _ in range(3))},{field},{r.choice(n.cities)},{r.choice(V.STATES[:50])},USA,{r.uniform(25, 70):.5f},-{r.uniform(65, 165):.5f}")
    return "\n".join(lines[r.randint(0, 1):])


MAKERS = [(logs, 6), (trace, 4), (table, 7), (dump, 4), (schema, 5), (label, 4), (listing, 5), (letters, 3), (quiz, 3), (rules, 2), (airfields, 2)]


def make(r, names):
    maker = r.choices([maker for maker, _ in MAKERS], [weight for _, weight in MAKERS])[0]
    return maker(r, Words(r, names))


GLUED = re.compile(r"(?:(?<=[._(=:<>/\[{;,$#*&\"'-])[A-Za-z]{4,}|[A-Za-z]{4,}(?=[._(=:<>/\[\]{};$-]))(?![a-z])")


def altered_code(text, r, names):
    """Code with some of its identifiers changed, the same word always for the same other one."""
    mapping, w = {}, Words(r, names)

    def other(match):
        word = match.group()
        low = word.lower()
        if low not in mapping:
            mapping[low] = w.word() if r.random() < 0.25 else None
        new = mapping[low]
        if new is None:
            return word
        return new.upper() if word.isupper() else new.capitalize() if word[0].isupper() else new
    return GLUED.sub(other, text)
