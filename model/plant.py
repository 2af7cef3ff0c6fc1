"""People put into material that is not about people: code, logs, data, pages, and prose in other languages.

A piece of harmless material comes in, a labelled document goes out. What is put in follows the material: a comment or
a fixture into code, a row into a table, an entry into a log, a sentence into prose of the same language.
"""

import pathlib
import re

import generate
import noise
import values as V

FOLDER = pathlib.Path(__file__).parent / "templates"


def templates(folder):
    return {path.stem: [line.replace("\\n", "\n").replace("\\t", "\t") for line in path.read_text().splitlines() if line.strip()]
            for path in sorted((FOLDER / folder).glob("*.txt"))}


PLANTED, LANGUAGES = templates("planted"), templates("languages")

HASH, SLASHES, DASHES = ("# ", ""), ("// ", ""), ("-- ", "")
COMMENTS = {
    **dict.fromkeys("python ruby shell yaml toml make docker perl r elixir".split(), [HASH]),
    **dict.fromkeys("rust javascript typescript go java csharp kotlin c php swift scala dart proto".split(), [SLASHES, SLASHES, (" * ", ""), ("/* ", " */"), ("/// ", "")]),
    **dict.fromkeys("sql haskell lua".split(), [DASHES]), "css": [("/* ", " */")],
    **dict.fromkeys("html xml markdown".split(), [("<!-- ", " -->")]), "rst": [(".. ", "")],
}
# Which templates fit which material, apart from comments.
FITTING = {
    **dict.fromkeys("rust javascript typescript go java csharp kotlin c php swift scala dart minified".split(), ["clike"]),
    **dict.fromkeys("python ruby shell perl r elixir lua haskell make docker".split(), ["python"]),
    "sql": ["sql"], "json": ["config", "fhir", "record"], "yaml": ["config"], "toml": ["config"], "xml": ["config", "html"], "html": ["html"], "css": ["html"],
    "csv": ["table"], "changelog": ["prose", "log"], "diff": ["log", "clike"], "test": ["log", "table"], "prompt": ["prose", "any"],
    "markdown": ["prose", "prose", "any", "table"], "rst": ["prose", "any"], "text": ["prose", "any"], "po": ["prose"], "proto": ["clike"],
}

MONTHS = {
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
    "pt": "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
    "it": "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "nl": "januari februari maart april mei juni juli augustus september oktober november december",
    "pl": "stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia",
    "sv": "januari februari mars april maj juni juli augusti september oktober november december",
    "da": "januar februar marts april maj juni juli august september oktober november december",
    "no": "januar februar mars april mai juni juli august september oktober november desember",
    "fi": "tammikuuta helmikuuta maaliskuuta huhtikuuta toukokuuta kesäkuuta heinäkuuta elokuuta syyskuuta lokakuuta marraskuuta joulukuuta",
    "tr": "Ocak Şubat Mart Nisan Mayıs Haziran Temmuz Ağustos Eylül Ekim Kasım Aralık",
    "ro": "ianuarie februarie martie aprilie mai iunie iulie august septembrie octombrie noiembrie decembrie",
    "cs": "ledna února března dubna května června července srpna září října listopadu prosince",
    "hu": "január február március április május június július augusztus szeptember október november december",
    "id": "Januari Februari Maret April Mei Juni Juli Agustus September Oktober November Desember",
}
ORIGINS = {"es": "hispanic", "fr": "french_italian", "it": "french_italian", "de": "german_dutch", "nl": "german_dutch", "pt": "portuguese_romanian", "ro": "portuguese_romanian",
           "pl": "slavic", "cs": "slavic", "sv": "nordic_baltic", "da": "nordic_baltic", "no": "nordic_baltic", "fi": "nordic_baltic", "tr": "persian_turkish", "hu": "hungarian", "vi": "vietnamese", "id": "indonesian"}
STREETS = {
    "es": "Calle|C/|C/.|Avda.|Avenida|Plaza|Paseo|Pza.|Camino|Ronda|Carretera|Calle de la|Calle del|Avenida de", "fr": "rue|avenue|boulevard|place|rue de la|rue du|allée des|chemin de|quai|impasse",
    "pt": "Rua|Av.|Avenida|Travessa|Praça|R.|Rua do|Rua da|Largo|Alameda", "it": "Via|Viale|Piazza|Corso|Via della|Largo|Vicolo", "pl": "ul.|al.|pl.|os.|ulica",
    "tr": "Cad.|Sok.", "ro": "Str.|Bd.|Aleea|Calea", "id": "Jl.|Jalan", "hu": "", "vi": "Đường|Phố",
}
ENDS = {"de": "straße strasse weg platz gasse allee str. ring", "nl": "straat weg laan plein gracht kade", "sv": "gatan vägen", "da": "gade vej", "no": "gata veien", "fi": "katu tie", "cs": " ulice", "hu": " utca| út| tér"}


class Foreign(generate.Document):
    """A document in another language: its names, dates and addresses."""

    def __init__(self, r, names, language):
        super().__init__(r, names)
        self.language = language

    def who(self, key):
        if key not in self.cast:
            r, origin = self.r, ORIGINS.get(self.language)
            person = self.names.person(r, origin if r.random() < 0.75 else None)
            double = {"es": 0.55, "pt": 0.3}.get(self.language, 0)
            if r.random() < double and origin:
                other = self.names.person(r, origin)["last"]
                person["last"] += r.choice([" ", " ", " ", " y ", "-", " de "] if self.language == "es" else [" ", " da ", " de ", " dos "]) + other
            if r.random() < 0.12:
                person["first"] += r.choice([" ", " ", "-"]) + self.names.person(r, origin)["first"].split(" ")[0]
            self.cast[key] = person
        return self.cast[key]

    def full_date(self, date):
        r, months = self.r, MONTHS.get(self.language, "").split()
        y, m, d = date.year, date.month, date.day
        plain = [f"{d:02}/{m:02}/{y}", f"{d:02}.{m:02}.{y}", f"{d:02}-{m:02}-{y}", f"{d}/{m}/{y}", f"{d}.{m}.{y}", f"{d:02}/{m:02}/{y % 100:02}"]
        if not months or r.random() < 0.5:
            return r.choice(plain)
        month = months[m - 1]
        if self.language in ("es", "pt"):
            return r.choice([f"{d} de {month} de {y}", f"{d} de {month} de {y}", f"{d} {month} {y}", f"{d}-{month[:3]}-{y}", f"{d} de {month} del {y}"])
        if self.language in ("de", "da", "no", "cs", "fi"):
            return r.choice([f"{d}. {month} {y}", f"{d}. {month} {y}", f"{d} {month[:3]}. {y}"])
        if self.language == "hu":
            return f"{y}. {month} {d}."
        return r.choice([f"{d} {month} {y}", f"{d} {month} {y}", f"{d} {month[:3]}. {y}" if len(month) > 4 else f"{d} {month} {y}"])

    def address(self, one_line):
        r, language = self.r, self.language
        if r.random() < 0.15 or language not in STREETS and language not in ENDS:
            return super().address(one_line)
        if language == "es" and r.random() < 0.12:  # numbered streets of Colombia and Mexico
            street = f"{r.choice(['Calle', 'Carrera', 'Cra.', 'Cll.', 'Av.', 'Diagonal', 'Kra'])} {r.randint(1, 180)}{r.choice(['', '', '', 'A', ' Sur', ' Bis'])} {r.choice(['#', '# ', 'No. ', 'Nº ', 'n.º '])}{r.randint(1, 120)}-{r.randint(1, 99)}"
            return street + r.choice(["", f", {self.town()}", f", apto {r.randint(101, 1204)}, {self.town()}", f", {self.town()}"])
        base = self.names.person(r, ORIGINS[language])["last"] if r.random() < 0.6 else r.choice(self.names.table["invented"])
        number = str(r.randint(1, 240)) + r.choice(["", "", "", "", "a", " bis", "-B"])
        if language in ENDS:
            end = r.choice(ENDS[language].split("|" if "|" in ENDS[language] else " "))
            street = f"{base}{end} {number}"
        else:
            street = f"{r.choice(STREETS[language].split('|'))} {base}"
            street = f"{number}{r.choice([' ', ', '])}{street}" if language == "fr" else f"{street}{r.choice([', ', ' ', ' nº ', ', nº ', ', n.º '] if language in ('es', 'pt') else [' ', ', '])}{number}"
        if language in ("es", "pt", "it") and r.random() < 0.4:
            street += r.choice([", ", " "]) + r.choice([f"{r.randint(1, 9)}º {r.choice(['A', 'B', 'C', 'Dcha.', 'izq.', '1ª', 'D'])}", f"piso {r.randint(1, 12)}", f"apto {r.randint(1, 90)}", f"int. {r.randint(1, 20)}", f"portal {r.randint(1, 9)}, {r.randint(1, 9)}º{r.choice('ABCD')}", f"{r.randint(1, 9)}-{r.randint(1, 4)}"])
        if r.random() < 0.55:
            code = {"pt": f"{r.randint(1000, 9999)}-{r.randint(0, 999):03}", "pl": f"{r.randint(10, 99)}-{r.randint(0, 999):03}", "nl": f"{r.randint(1000, 9999)} {r.choice('ABCDEHKX')}{r.choice('ABCDEHKX')}"}.get(language, f"{r.randint(1000, 99999):05}")
            town = r.choice(self.names.cities) if r.random() < 0.3 else self.town()
            street += r.choice([", ", ", ", ". ", "\n"] if not one_line else [", ", ", ", " - "]) + r.choice([f"{code} {town}", f"{code} {town}", f"{code}, {town}", town, f"{town} {code}"])
        return street

    def phone(self):
        r = self.r
        return r.choice([f"+{r.randint(30, 99)} {r.randint(100, 999)} {r.randint(100, 999)} {r.randint(100, 999)}", f"{r.randint(600, 999)} {r.randint(100, 999)} {r.randint(100, 999)}", f"0{r.randint(10, 999)} {r.randint(10000, 9999999)}", f"{r.randint(600, 999)}{r.randint(100000, 999999)}"])


def foreign(r, names, language, texts):
    """A document in a language: sentences with people, and among them prose without."""
    d = Foreign(r, names, language)
    if texts and r.random() < 0.35:
        lines = r.choice(texts).split("\n")
        start = r.randrange(len(lines))
        places = {r.randrange(max(1, min(14, len(lines)))) for _ in range(r.randint(1, 3))}
        for number, line in enumerate(lines[start:start + 14]):
            if number in places:
                d.render(r.choice(LANGUAGES[language]))
                d.add("\n")
            d.add(line + "\n")
        return d
    for place in range(r.randint(1, 8)):
        if place:
            d.add(r.choice([" ", " ", "\n", "\n", "\n\n"]))
        if r.random() < 0.15:
            d.cast = {}
        d.render(r.choice(LANGUAGES[language]))
    return d


def put_in(d, kind):
    """Writes one thing that names somebody."""
    r = d.r
    if kind == "table":
        generate.table(d)
    elif kind == "fhir":
        generate.fhir(d)
    elif kind == "record":
        generate.record(d)
    elif kind == "any":
        generate.render_any(d, r.choice(["notes", "clinician", "chat", "general", "patient", "handoff", "letters", "forms"]))
    elif r.random() < 0.04:
        generate.hl7(d)
    else:
        d.render(r.choice(PLANTED[kind]))


def indented(d, indent, lead, tail, write):
    """Runs `write` and gives each line it wrote the indent, a lead and a tail."""
    inner = generate.Document(d.r, d.names)
    inner.cast = d.cast
    write(inner)
    place, cuts = 0, sorted(inner.spans)
    text = inner.text.rstrip("\n")
    for number, line in enumerate(text.split("\n")):
        d.add(("\n" if number else "") + indent + lead)
        end = place + len(line)
        here = place
        for start, stop, kind in cuts:
            if start >= here and stop <= end:
                d.add(text[here:start])
                d.add(text[start:stop], kind)
                here = stop
            elif start < end < stop or start <= place < stop:
                d.add(text[here:max(here, min(start, end))])  # over several lines: label each part
                part = max(start, here), min(stop, end)
                if part[0] < part[1]:
                    d.add(text[part[0]:part[1]], kind)
                    here = part[1]
        d.add(text[here:end] + tail)
        place = end + 1
    d.add("\n")


def plant(r, names, label, piece):
    """A piece of material with one to four people put into it."""
    d = generate.Document(r, names)
    lines = piece.split("\n")
    count = r.choice([1, 1, 1, 2, 2, 3, 4])
    if len(lines) < 3 or label == "minified":
        return within(d, piece)
    start = r.randrange(max(1, len(lines) - 12))
    lines = lines[start:start + r.randint(6, 40)]
    places = {r.randrange(len(lines)) for _ in range(count)}
    kinds, comments = FITTING.get(label, ["prose"]), COMMENTS.get(label)
    for number, line in enumerate(lines):
        if number in places:
            indent = re.match(r"[ \t]*", line).group()[:12]
            if comments and r.random() < 0.4:
                lead, tail = r.choice(comments)
                indented(d, indent, lead, tail, lambda inner: inner.render(r.choice(PLANTED["comment"])))
            elif label == "csv" and r.random() < 0.5:
                row(d, lines[0])
            else:
                kind = r.choice(kinds)
                indented(d, indent if kind not in ("table", "any", "prose") else "", "", "", lambda inner: put_in(inner, kind))
            if r.random() < 0.4:
                d.cast = {}
        d.add(line + "\n")
    return d


def row(d, head):
    """A row of a table with a person in it, with as many columns as the head."""
    r = d.r
    sep = max(",;\t|", key=head.count)
    columns = head.count(sep) + 1
    person = r.randrange(columns)
    slots = ["name", "lf" if sep != "," else "name", "dob", "date", "n", "city", "phone", "mrn", "safe", "addr1" if sep != "," else "street"]
    for column in range(columns):
        d.add(sep if column else "")
        d.fill("name" if column == person else r.choice(slots))
    d.add("\n")


def within(d, piece):
    """Somebody inside a long line: a string literal of minified code, a value of one-line data."""
    r = d.r
    places = [match.start() for match in re.finditer(r"[,;}]", piece)]
    if not places:
        put_in(d, "prose")
        return d
    at = r.choice(places) + 1
    d.add(piece[:at])
    before, after = r.choice([('"', '",'), ("name:'", "',"), ('{"name":"', '"},'), ('patient="', '";'), ('alert("Hello ', '");')])
    d.add(before)
    d.fill(r.choice(["name", "name", "lf", "first"]))
    d.add(after + piece[at:])
    return d


def log_with_people(r, names):
    d = generate.Document(r, names)
    lines = noise.make(r, names).split("\n")
    places = {r.randrange(len(lines)) for _ in range(r.randint(1, 3))}
    for number, line in enumerate(lines):
        if number in places:
            d.render(r.choice(PLANTED["log"]))
            d.add("\n")
        d.add(line + "\n")
    return d
