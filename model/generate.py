"""Synthetic clinical, billing, patient, chat and developer text with every person, address and date labelled.

    python3 generate.py --lists work/lists.json.gz --count 20 --seed 1     (prints samples)

Templates lie in templates/, one per line: `«a|b»` picks one, `{slot}` is filled and labelled, `~NAME:last~`
labels what a slot gives as NAME. Structured registers (HL7, FHIR, CSV, X12, logs, SQL) are made in code.
"""

import argparse
import gzip
import json
import pathlib
import random
import re

import values as V
from names import is_held_out

TEMPLATES = {
    path.stem: [line.replace("\\n", "\n").replace("\\t", "\t") for line in path.read_text().splitlines() if line.strip()]
    for path in sorted((pathlib.Path(__file__).parent / "templates").glob("*.txt"))
}
CHOICE = re.compile("«([^«»]*)»")
SLOT = re.compile(r"\{(\w+)\}|~NAME:(\w+)~")
NEWLINE = "\n"
NAME_SLOTS = {"slug", "name", "first", "last", "firstf", "lastf", "lf", "fam", "nick", "spell", "nickfull", "nee"}


# Origins that are drawn more often than others: those whose names were missed most.
OFTEN = {"african": 4, "vietnamese": 2, "filipino_pacific": 2, "hungarian": 2, "indian": 2, "english": 2}


class Names:
    """Draws people; for measuring, only from the names held out of training."""

    def __init__(self, lists, held_out):
        def keep(names):
            kept = [name for name in names if is_held_out(name) == held_out]
            return kept if len(kept) >= 8 else names
        self.people = {origin: (keep(given), keep(last)) for origin, (given, last) in lists["people"].items()}
        self.origins = sorted(self.people)
        self.drawn = [origin for origin in self.origins for _ in range(OFTEN.get(origin, 1))]
        self.table = {key: keep(lists[key]) for key in
                      ("given", "last", "rare_given", "rare_last", "invented", "word_given", "word_last")}
        self.cities, self.counties = lists["cities"], lists["counties"]
        self.foreign = lists["foreign_addresses"]
        self.safe = lists["safe"]
        self.ambiguous = [name.lower() for name in lists["word_given"] + lists["word_last"]]

    def person(self, r, origin=None):
        t, u = self.table, r.random()
        if origin or u < 0.45:
            given, last = self.people[origin or r.choice(self.drawn)]
            first, last = r.choice(given), r.choice(last)
            if not origin and r.random() < 0.2:
                first = r.choice(t["given"])
        elif u < 0.62:
            first, last = r.choice(t["given"]), r.choice(t["last"])
        elif u < 0.77:
            first, last = r.choice(t["rare_given"]), r.choice(t["rare_last"])
        elif u < 0.91:
            first, last = r.choice(t["invented"]), r.choice(t["invented"])
        elif u < 0.935:
            first, last = r.choice(t["word_given"]), r.choice(t["last"] if r.random() < 0.6 else t["word_last"])
        elif u < 0.98:
            first, last = r.choice(t["given"]), r.choice(t["word_last"])
        else:
            first, last = r.choice(t["given"]), r.choice(V.EPONYMS)
        return self.vary(r, first, last) if not origin else {"first": first, "last": last, "middle": r.choice(t["given"])}

    def vary(self, r, first, last):
        u, t = r.random(), self.table
        if last.lower().startswith("mc") and len(last) > 4 and last[2].islower():
            last = "Mc" + last[2:].capitalize()
        if u < 0.045:
            last += "-" + r.choice(t["last"])
        elif u < 0.06:
            last = r.choice("de la |De La |van |van der |Van |von |de |Di |Da |dos |St. |bin |Del |La |Le |al-|El |ter ".split("|")) + last
        elif u < 0.075 and last[0] not in "OD":
            last = r.choice(["O'", "D'", "O’", "M'"]) + last
        elif u < 0.085:
            last += " " + r.choice(t["last"])
        elif u < 0.09:
            last = last[0]
        if r.random() < 0.03:
            first += "-" + r.choice(t["given"])
        elif r.random() < 0.02:
            first = first[0] + "."
        return {"first": first, "last": last, "middle": r.choice(t["given"])}


class Document:
    """A text being written, with its labelled spans."""

    def __init__(self, r, names, origin=None):
        self.r, self.names, self.origin = r, names, origin
        self.parts, self.size, self.spans, self.cast = [], 0, [], {}

    def add(self, text, label=None):
        if label and text.strip():
            start, end = self.size + len(text) - len(text.lstrip()), self.size + len(text.rstrip())
            last = self.spans[-1] if self.spans else None
            if last and label == last[2] == "NAME" and start - last[1] == 1 and self.parts[-1].endswith(" "):
                start = self.spans.pop()[0]  # a given name and a surname from two slots are one name
            self.spans.append((start, end, label))
        self.parts.append(text)
        self.size += len(text)

    @property
    def text(self):
        return "".join(self.parts)

    def who(self, key):
        if key not in self.cast:
            self.cast[key] = self.names.person(self.r, self.origin)
        return self.cast[key]

    # --- values

    def name(self, p):
        r, u = self.r, self.r.random()
        f, l, m = p["first"], p["last"], p["middle"]
        if self.origin or u < 0.66:
            return f"{f} {l}"
        nick = r.choice(self.names.table["given"])
        return r.choice([f"{f} {m[0]}. {l}"] * 5 + [f"{f} {m[0]} {l}"] * 2 + [f"{f} {m} {l}"] * 3 + [
            f"{f[0]}. {l}", f"{f[0]}. {l}", f"{f[0]} {l}", f"{f[0]}.{m[0]}. {l}", f"{f[0]}. {m[0]}. {l}", f'{f} "{nick}" {l}',
            f"{f} ({nick}) {l}", f"{f} {l} {r.choice(['Jr.', 'Jr', 'Sr.', 'III', 'II'])}", f"{f} {l}, {r.choice(['Jr.', 'Sr.', 'III'])}",
            f"{f} {l[0]}.", f"{f} {l[0]}", f"{f[0]}.{l[0]}.", f"{f} {l} née {r.choice(self.names.table['last'])}",
            f"{l} {f}", f"{f.upper()} {l.upper()}", f"{f} {l.upper()}", f"{l.upper()} {f}"])

    def last_first(self, p):
        f, l, m = p["first"], p["last"], p["middle"]
        return self.r.choice([f"{l}, {f}", f"{l}, {f}", f"{l}, {f} {m[0]}", f"{l}, {f} {m[0]}.", f"{l},{f}", f"{l}, {f} {m}",
                              f"{l}, {f[0]}.", f"{l.upper()}, {f.upper()}", f"{l.upper()}, {f}"])

    def street_name(self):
        r, u, t = self.r, self.r.random(), self.names.table
        if u < 0.14:
            core = V.ordinal(r.randint(1, 140))
        elif u < 0.36:
            core = r.choice(t["last"])
        elif u < 0.42:
            core = r.choice(t["given"])
        elif u < 0.45:
            core = r.choice(V.MONTHS + V.STATES[-9:])
        elif u < 0.5:
            core = r.choice(["Martin Luther King Jr", "MLK", "JFK", "St. Charles", "El Camino Real", "Via Verde", "Calle Luna",
                             "Rue Royale", "Camino del Sol", "Avenida Central", "Paseo Norte", "Country Club", "County Line"])
        else:
            core = r.choice(V.STREET_WORDS) + (" " + r.choice(V.STREET_WORDS) if r.random() < 0.25 else "")
        side = r.choice(["", "", "", "", "N ", "S ", "E ", "W ", "North ", "South ", "East ", "West ", "N. ", "NW ", "SE "])
        kind = " " + r.choice(V.STREET_TYPES[:34] if r.random() < 0.75 else V.STREET_TYPES) if r.random() < 0.94 else ""
        return side + core + kind + (" " + r.choice(["NW", "SE", "N", "W", "South"]) if r.random() < 0.04 else "")

    def house(self):
        r, u = self.r, self.r.random()
        if u < 0.06:
            return r.choice([f"{r.randint(10, 99)}-{r.randint(10, 99)}", f"{r.randint(1, 999)}{r.choice('ABC')}", f"{r.randint(1, 300)} 1/2", f"N{r.randint(10, 99)}W{r.randint(1000, 9999)}"])
        return str(r.choice([r.randint(1, 99), r.randint(100, 999), r.randint(100, 9999), r.randint(1000, 19999), r.randint(10000, 99999)]))

    def unit(self):
        r = self.r
        number = r.choice([str(r.randint(1, 40)), str(r.randint(100, 2200)), f"{r.randint(1, 20)}{r.choice('ABCDEF')}", r.choice("ABCDEFG")])
        return r.choice(["Apt", "Apt.", "Apartment", "Unit", "#", "Suite", "Ste", "Ste.", "Lot", "Fl", "Bldg", "Rm", "Trlr", "apt", "Apt #", "Flat"]) + " " + number

    def zip(self):
        r = self.r
        return f"{r.randint(501, 99950):05}" + (f"-{r.randint(1, 9999):04}" if r.random() < 0.12 else "")

    def town(self):
        """A town of a list, or one that sounds like one."""
        r, u, t = self.r, self.r.random(), self.names.table
        if u < 0.7:
            return r.choice(self.names.cities)
        base = r.choice(t["given"] if r.random() < 0.6 else t["last"] if r.random() < 0.6 else t["invented"])
        if u < 0.82:
            return r.choice(["Port", "Lake", "New", "East", "West", "North", "South", "Fort", "Mount", "San", "Saint", "El", "Villa"]) + " " + base
        if u < 0.96:
            return base + r.choice("ville haven mouth port stad burgh ton view shire side land fort borough bury chester town furt berg ov ia pur abad".split())
        return r.choice(t["invented"])

    def city_state(self):
        return f"{self.town()}, {self.r.choice(V.STATES)}"

    def city(self):
        return self.town() if self.r.random() < 0.9 else self.r.choice(self.names.counties)

    def address(self, one_line):
        r, u = self.r, self.r.random()
        if u < 0.10:
            text = r.choice(self.names.foreign)
            if r.random() < 0.25:
                return text.split("\n")[0]
            return text.replace("\n", ", ") if one_line or r.random() < 0.5 else text
        if u < 0.135:
            return self.abroad(one_line)
        if u < 0.16:
            street = r.choice(["PO Box ", "P.O. Box ", "P O Box ", "Box ", "RR 2 Box ", "HC 63 Box ", "PMB ", "Rural Route 4 Box ", "Postal Box "]) + str(r.randint(1, 9999))
        elif u < 0.19:
            street = r.choice([f"{self.house()} {r.choice(['Highway', 'Hwy', 'US-', 'State Route', 'County Road', 'CR', 'FM', 'Route', 'I-'])} {r.randint(1, 400)}",
                               f"{r.choice(['', '', 'the corner of ', 'corner of '])}{self.street_name()} {r.choice(['and', '&', 'at'])} {self.street_name()}",
                               f"PSC {r.randint(1, 9999)}{r.choice([',', ''])} Box {r.randint(1, 9999)}{r.choice([', ', NEWLINE])}{r.choice(['APO AE', 'APO AP', 'FPO AP'])} {r.randint(9000, 99999):05}",
                               f"Unit {r.randint(1000, 9999)} Box {r.randint(10, 999)}, {r.choice(['DPO AP', 'APO AE'])} {r.randint(90000, 99999)}"])
        else:
            street = f"{self.house()} {self.street_name()}"
        if r.random() < 0.25:
            street += r.choice([", ", " ", ", ", "\n" if not one_line else ", "]) + self.unit()
        tail = r.random()
        if tail < (0.42 if one_line else 0.12):
            return street
        separator = ", " if one_line else r.choice([", ", "\n", "\n", ", ", " ", ","])
        city = self.town()
        if tail < 0.48:
            return f"{street}{separator}{city}"
        if tail < 0.54:
            return f"{street}{separator}{self.zip()}"
        if tail < 0.62:
            return f"{street}{separator}{city}{r.choice([', ', ' '])}{r.choice(V.STATES)}"
        return f"{street}{separator}{city}{r.choice([', ', ', ', ' ', ','])}{r.choice(V.STATES)}{r.choice([' ', ' ', ', '])}{self.zip()}"

    def abroad(self, one_line):
        """Street before number, town, country or postal code, as outside the English-speaking world."""
        r, t = self.r, self.names.table
        base = r.choice(t["last"] + t["invented"])
        street = r.choice([base.lower().capitalize() + r.choice("strasse straße weg gasse platz straat laan gatan vej gata katu allee ring".split()),
                           r.choice(["Rue", "Avenue", "Via", "Calle", "Rua", "Carrer", "ul.", "Piazza", "Avenida", "Boulevard", "Jalan", "Chemin", "Corso", "Plaza", "Quai"]) + " " + r.choice(["", "de ", "del ", "du ", "della ", "da ", "des "]) + base])
        number = str(r.randint(1, 250)) + r.choice(["", "", "", "a", "b", "/2"])
        text = r.choice([f"{street} {number}", f"{street} {number}", f"{number} {street}", f"{street} n° {number}"])
        if r.random() < 0.2:
            text = f"{r.randint(1, 99)} {text}"
        separator = ", " if one_line else r.choice([", ", "\n", "\n "])
        if r.random() < 0.25:
            text += separator + self.unit()
        if r.random() < 0.6:
            text += separator + r.choice([f"{r.randint(1000, 99999)} {self.town()}", self.town(), f"{self.town()} {r.randint(1000, 99999)}"])
            if r.random() < 0.4:
                text += separator + r.choice(V.COUNTRIES) + ("" if r.random() < 0.6 else f" {r.randint(10000, 99999)}")
        return text

    def full_date(self, date):
        return V.full_date(self.r, date)

    def slug(self, p):
        """A name as it stands in the name of a file."""
        r = self.r
        first, last = (re.sub(r"[^\w]", "", p[part]) or "Oh" for part in ("first", "last"))
        pair = r.choice([(first, last), (last, first), (last, first), (first[0], last)])
        text = r.choice(["_", "_", "-", ".", ""]).join(pair)
        return text.lower() if r.random() < 0.6 and not text.isalpha() else text

    def spelled(self, word):
        return "-".join(word.upper())

    def phone(self):
        r = self.r
        a, b, c = r.randint(200, 989), r.randint(200, 999), r.randint(0, 9999)
        return r.choice([f"({a}) {b}-{c:04}", f"{a}-{b}-{c:04}", f"{a}.{b}.{c:04}", f"{a}{b}{c:04}", f"+1 {a} {b} {c:04}", f"{b}-{c:04}"])

    def email(self):
        r, p = self.r, self.who("mail")
        user = re.sub("[^a-z]", "", p["first"].lower()) + r.choice([".", "_", ""]) + re.sub("[^a-z]", "", p["last"].lower())
        return f"{user}{r.choice(['', str(r.randint(1, 99))])}@{r.choice(['example.com', 'mail.example.org', 'clinic.example.net'])}"

    def mrn(self):
        r = self.r
        return r.choice([str(r.randint(10**5, 10**9)), f"{r.choice('ABEHMTW')}{r.randint(10**5, 10**8)}", f"MR-{r.randint(1000, 999999)}", f"{r.randint(10, 99)}-{r.randint(10, 99)}-{r.randint(10, 99)}"])

    def fill(self, slot):
        """Writes the value of a slot, labelled."""
        r = self.r
        number = slot[-1] if slot[-1].isdigit() else ""
        base = slot.rstrip("0123456789")
        role = "d" if base in ("dr", "prov") else "p"
        p = self.who(role + number) if base in NAME_SLOTS | {"title", "dr", "prov"} else None
        if base == "name":
            self.add(self.name(p), "NAME")
        elif base in ("first", "firstf"):
            self.add(p["first"], "NAME")
        elif base in ("last", "lastf"):
            self.add(p["last"], "NAME")
        elif base == "lf":
            self.add(self.last_first(p), "NAME")
        elif base == "title":
            self.add(r.choice(V.HONORIFICS) + " ")
            self.add(p["last"] if r.random() < 0.8 else self.name(p), "NAME")
        elif base == "dr":
            self.add(r.choice(["Dr. ", "Dr. ", "Dr ", "Doctor ", "dr. ", "Drs. ", "Professor "]))
            self.add(p["last"] if r.random() < 0.75 else self.name(p), "NAME")
        elif base == "prov":
            self.add(self.name(p), "NAME")
            self.add(r.choice([", ", " ", ", "]) + r.choice(V.CREDENTIALS))
        elif base == "fam":
            kin = self.who(f"kin{number}{r.randint(0, 1)}")
            if r.random() < 0.35 and "p" in self.cast:
                kin["last"] = self.cast["p"]["last"]
            self.add(kin["first"] if r.random() < 0.55 else self.name(kin), "NAME")
        elif base == "nick":
            self.add(r.choice([p["first"][:3].capitalize(), p["first"][0] + "." + p["last"][0] + ".", p["first"][:4] + "y"]), "NAME")
        elif base == "slug":
            self.add(self.slug(p), "NAME")
        elif base == "spell":
            self.add(self.spelled(re.sub(r"[^\w]", "", p["last"]) or "Oh"), "NAME")
        elif base in ("wlast", "wlastl"):
            last = r.choice(self.names.table["word_last"])
            self.add(last.lower() if base == "wlastl" else last, "NAME")
        elif base == "wfirst":
            self.add(r.choice(self.names.table["word_given"]), "NAME")
        elif base in ("firstl", "lastl"):
            self.add(self.who("p")["first" if base == "firstl" else "last"].lower(), "NAME")
        elif base == "nickfull":
            nick = r.choice(self.names.table["given"])
            self.add(r.choice(['{} "{}" {}', "{} ({}) {}", "{} '{}' {}", "{} “{}” {}"]).format(p["first"], nick, p["last"]), "NAME")
        elif base == "nee":
            self.add(f"{p['first']} {p['last']}{r.choice([' ', ', '])}{r.choice(['née', 'nee', 'née', 'neé'])} {r.choice(self.names.table['last'])}", "NAME")
        elif base in ("init", "initd"):
            self.add(r.choice("ABCDEFGHJKLMNOPRSTVWYZ") + ("." if base == "initd" else ""), "NAME")
        elif base == "initials":
            dot = r.choice(["", "", "."])
            self.add("".join(r.choice("ABCDEFGHJKLMNOPRSTVWYZ") + dot for _ in range(r.choice([2, 2, 3]))), "NAME")
        elif base == "dob":
            self.add_date(self.full_date(V.birth_date(r)) if r.random() < 0.97 else V.birthday(r, V.birth_date(r)), "DOB")
        elif base == "bday":
            self.add_date(V.birthday(r, V.birth_date(r)), "DOB")
        elif base == "date":
            if r.random() < 0.06:
                self.add(r.choice(V.DAYS) + r.choice([" ", ", "]))
            self.add_date(V.any_date(r, V.other_date(r)) if type(self) is Document else self.full_date(V.other_date(r)), "DATE")
        elif base == "addr":
            self.add(self.address(one_line=slot == "addr1"), "ADDRESS")
        elif base == "street":
            self.add((self.house() + " " if r.random() < 0.6 else "") + self.street_name(), "ADDRESS")
        elif base == "zip":
            self.add(self.zip(), "ADDRESS")
        elif base == "city":
            self.add(self.city(), "LOCATION")
        elif base == "cityst":
            self.add(self.city_state(), "LOCATION")
        elif base == "org":
            self.add(self.facility(), "ORG")
        elif base == "company":
            self.add(self.company(), "ORG")
        else:
            self.add(self.plain(base))

    def add_date(self, text, label):
        """A date; the article before it and the time after it are outside."""
        r = self.r
        if text.startswith("the "):
            self.add("the ")
            text = text[4:]
        self.add(text, label)
        if r.random() < (0.3 if re.fullmatch(r"\d{4}-\d\d-\d\d", text) else 0.03):
            clock = f"{r.randint(0, 23):02}:{r.randint(0, 59):02}"
            self.add(r.choice([f"T{clock}:00Z", f"T{clock}:00", f" {clock}", f"T{clock}:{r.randint(0, 59):02}.000Z", f" at {clock}"]))

    def company(self):
        r, last = self.r, self.names.table["last"]
        one, two, three = r.choice(last), r.choice(last), r.choice(last)
        return r.choice([f"{one}-{two}", f"{one}, {two} and {three}", f"{one} {r.choice(['Ltd', 'Inc', 'LLC', 'Group', 'PLC', 'Corp', 'Co', 'Partners', 'Holdings', 'Foundation', 'Brothers', 'University', 'College', 'Industries', 'Motors', 'Press'])}", f"{one} & {two}", f"{one} and Sons"])

    def eponym(self):
        """A thing named after somebody: never a NAME."""
        r, last = self.r, self.names.table["last"]
        pool = last if r.random() < 0.6 else V.EPONYMS
        names = r.choice(pool) + ("" if r.random() < 0.6 else r.choice(["-", " ", " and ", "-"]) + r.choice(pool))
        return names + r.choice(["", "", "", "'s", "'"]) + " " + r.choice(V.BODY)

    def facility(self):
        r, t = self.r, self.names.table
        if r.random() < 0.5:
            return r.choice(V.FACILITIES)
        core = r.choice([r.choice(t["last"]), r.choice(V.STREET_WORDS), self.town(), "St. " + r.choice(t["given"])])
        return core + " " + r.choice(["Hospital", "Clinic", "Medical Center", "Pharmacy", "Family Practice", "Elementary", "High School", "Nursing Home", "Dental", "Pediatrics", "Health", "Funeral Home", "& Sons", "Dialysis", "Orthopedics", "Hospice"])

    def plain(self, base):
        """Values that are not labelled by the model."""
        r = self.r
        tables = {"rel": V.RELATIONS, "drug": V.DRUGS, "dx": V.DISEASES, "sx": V.SYMPTOMS, "proc": V.TESTS, "lab": V.LABS,
                  "insurer": V.INSURERS, "cred": V.CREDENTIALS, "role": V.ROLES, "mon": V.MONTHS, "dow": V.DAYS, "eponym": V.EPONYMS,
                  "country": V.COUNTRIES, "place": V.PLACES, "brand": V.BRANDS, "ambiguous": self.names.ambiguous, "state": V.STATES, "lang": V.LANGUAGES, "sex": ["male", "female", "M", "F", "man", "woman", "boy", "girl"]}
        if base == "drug" and r.random() < 0.3:
            return V.invented_drug(r)
        if base in ("dx", "proc") and r.random() < 0.2 or base == "eponymic":
            return self.eponym()
        if base in ("fplain", "lplain"):  # somebody's name as the name of a place or thing
            return r.choice(self.names.table["given" if base == "fplain" else "last"])
        if base == "sexl":
            return r.choice("MFmf")
        if base == "safe":
            word = r.choice(self.names.safe)
            return word.capitalize() if r.random() < 0.1 else word
        if base == "prod":  # a program, which may be called anything
            word = r.choice(self.names.table["invented" if r.random() < 0.6 else "last"]) if r.random() < 0.8 else r.choice(self.names.safe)
            return word.lower() if r.random() < 0.4 else word.capitalize()
        if base == "typo":
            return V.mistyped(r, r.choice(self.names.safe))
        if base == "acr":
            return V.acronym(r)
        if base in tables:
            return r.choice(tables[base])
        return {
            "age": lambda: str(r.choice([r.randint(1, 99), r.randint(18, 89)])), "n": lambda: str(r.choice([r.randint(1, 30), r.randint(1, 999)])),
            "year": lambda: str(r.randint(1990, 2026)), "bp": lambda: f"{r.randint(85, 190)}/{r.randint(45, 110)}",
            "time": lambda: r.choice([f"{r.randint(0, 23):02}:{r.randint(0, 59):02}", f"{r.randint(1, 12)}:{r.randint(0, 59):02} {r.choice(['AM', 'PM'])}", f"{r.randint(0, 23):02}{r.randint(0, 59):02}", f"{r.randint(1, 12)}pm"]),
            "dose": lambda: f"{r.choice([5, 10, 20, 25, 40, 50, 75, 100, 250, 500, 1000])}{r.choice([' mg', 'mg', ' mcg', ' units', ' mL'])}",
            "phone": self.phone, "email": self.email, "mrn": self.mrn,
            "ssn": lambda: f"{r.randint(100, 899)}-{r.randint(10, 99)}-{r.randint(1000, 9999)}",
            "user": lambda: r.choice(self.names.table["last"]).lower()[:7] + r.choice(["", str(r.randint(1, 99)), r.choice("abcdjkmst")]),
            "hex": lambda: f"{r.getrandbits(40):010x}", "ip": lambda: f"10.{r.randint(0, 255)}.{r.randint(0, 255)}.{r.randint(1, 254)}",
            "id": lambda: r.choice(["", "W", "XYZ", "H", "CLM-"]) + str(r.randint(10**6, 10**10)),
            "mbi": lambda: f"{r.randint(1, 9)}{r.choice('ACDEFGHJKMNPQRTUVWXY')}{r.choice('ACDE5678')}{r.randint(0, 9)}{r.choice('GHJK')}{r.choice('TUV12')}{r.randint(0, 9)}{r.choice('MNPQ')}{r.choice('RTUV')}{r.randint(10, 99)}",
        }[base]()

    def render(self, template):
        r = self.r
        while True:
            expanded = CHOICE.sub(lambda match: r.choice(match.group(1).split("|")), template)
            if expanded == template:
                break
            template = expanded
        place = 0
        for match in SLOT.finditer(template):
            self.add(template[place:match.start()])
            self.fill(match.group(1) or match.group(2))
            place = match.end()
        self.add(template[place:])


def render_any(document, register):
    document.render(document.r.choice(TEMPLATES[register]))


# --- structured registers


def hl7(d):
    r, p, n = d.r, d.who("p"), d.names
    stamp = lambda: V.other_date(r).strftime("%Y%m%d") + r.choice(["", f"{r.randint(0, 23):02}{r.randint(0, 59):02}", f"{r.randint(0, 235959):06}"])

    def person(q):
        parts = [q["last"], q["first"]] + ([q["middle"][0]] if r.random() < 0.5 else [])
        d.add("^".join(part.upper() if caps else part for part in parts), "NAME")
    caps = r.random() < 0.6
    sep = r.choice(["\n", "\r\n", "\n", "\\r"])
    d.add(f"MSH|^~\\&|{r.choice(['ADT1', 'EPIC', 'LAB', 'HIS', 'GHH LAB'])}|{r.choice(['MCM', 'GOOD HEALTH', 'ELAB-3', 'HOSP'])}|{r.choice(['LABADT', 'EHR', ''])}|MCM|")
    d.add(stamp(), "DATE")
    d.add(f"||{r.choice(['ADT^A01', 'ORU^R01', 'ADT^A08', 'SIU^S12', 'MDM^T02'])}|MSG{r.randint(1, 99999):05}|P|2.{r.randint(3, 8)}{sep}")
    if r.random() < 0.5:
        d.add(f"EVN|A0{r.randint(1, 8)}|")
        d.add(stamp(), "DATE")
        d.add("|" * r.randint(0, 4) + sep)
    d.add(f"PID|1|{r.choice(['', d.mrn()])}|{d.mrn()}^^^{r.choice(['ADT1', 'MR', 'HOSP'])}{r.choice(['', '^MR'])}||")
    person(p)
    d.add(r.choice(["^^^^L", "^^^", "", "^JR"]) + "|")
    if r.random() < 0.4:
        d.add(d.who("m")["last"].upper() if caps else d.who("m")["last"], "NAME")
    d.add("|")
    d.add(V.birth_date(r).strftime("%Y%m%d"), "DOB")
    d.add(f"|{r.choice('MF')}||{r.choice(['', 'C', '2106-3'])}|")
    street = f"{d.house()} {d.street_name()}"
    address = f"{street}^{r.choice(['', d.unit()])}^{d.town()}^{r.choice(V.STATES)}^{d.zip()}"
    d.add(address.upper() if caps else address, "ADDRESS")
    d.add(r.choice(["", "^USA", "^^H"]) + f"||{d.phone()}|{r.choice(['', d.phone()])}||{r.choice('SMD')}||{d.mrn()}|{d.plain('ssn')}{sep}")
    if r.random() < 0.6:
        d.add("NK1|1|")
        person(d.who("k"))
        d.add(f"|{r.choice(['SPO', 'MTH', 'FTH^Father', 'WIFE', 'CHD'])}|")
        if r.random() < 0.5:
            d.add(f"{d.house()} {d.street_name()}^^{d.town()}^{r.choice(V.STATES)}^{d.zip()}", "ADDRESS")
        d.add(f"|{d.phone()}{sep}")
    d.add(f"PV1|1|{r.choice('IOE')}|{r.choice(['2000^2012^01', 'ICU^101^A', '4E^12'])}||||{r.randint(1000, 99999)}^")
    person(d.who("a"))
    d.add(r.choice(["^^^^MD", "^DR", "", "^MD"]) + "|" * r.randint(1, 5))
    if r.random() < 0.5:
        d.add(f"{r.randint(1000, 99999)}^")
        person(d.who("b"))
    d.add(sep)
    for i in range(r.randint(0, 3)):
        d.add(f"OBX|{i + 1}|NM|{r.choice(['GLU^Glucose', 'K^Potassium', 'HGB^Hemoglobin'])}^LN||{r.randint(3, 300)}|mg/dL|70-105|{r.choice('HNL')}|||F{sep}")


def fhir(d):
    r, p = d.r, d.who("p")
    q = '"'
    gap, colon = r.choice([("", ": "), ("", ":"), ("\n  ", ": ")]) if r.random() < 0.7 else (" ", ": ")
    d.add(f'{{{gap}"resourceType"{colon}"Patient",{gap}"id"{colon}"{r.getrandbits(64):016x}",{gap}"name"{colon}[{{"use"{colon}"official","family"{colon}"')
    d.add(p["last"], "NAME")
    d.add(f'","given"{colon}["')
    d.add(p["first"], "NAME")
    if r.random() < 0.4:
        d.add('", "')
        d.add(p["middle"], "NAME")
    d.add(f'"]{r.choice(["", ",%sprefix%s%s[%sMr.%s]" % (q, q, colon, q, q)])}}}],{gap}"gender"{colon}"{r.choice(["male", "female"])}",{gap}"birthDate"{colon}"')
    d.add(V.birth_date(r).isoformat(), "DOB")
    d.add(f'",{gap}"telecom"{colon}[{{"system"{colon}"phone","value"{colon}"{d.phone()}"}}],{gap}"address"{colon}[{{"line"{colon}["')
    d.add(f"{d.house()} {d.street_name()}" + ("" if r.random() < 0.7 else " " + d.unit()), "ADDRESS")
    d.add(f'"],"city"{colon}"')
    d.add(d.town(), "LOCATION")
    d.add(f'","state"{colon}"{r.choice(V.STATES)}","postalCode"{colon}"')
    d.add(d.zip(), "ADDRESS")
    d.add('","country":"US"}]')
    if r.random() < 0.5:
        d.add(f',{gap}"generalPractitioner"{colon}[{{"display"{colon}"Dr. ')
        d.fill("name1")
        d.add('"}]')
    if r.random() < 0.4:
        d.add(f',{gap}"contact"{colon}[{{"relationship"{colon}"{d.plain("rel")}","name"{colon}{{"text"{colon}"')
        d.fill("name2")
        d.add('"}}]')
    d.add(gap.rstrip(" ") + "}")


FIELDS = {
    "name": "name patient patient_name fullName full_name ptName client member subscriber contact Name PATIENT user customer employee".split(),
    "firstf": "first firstName first_name given fname FirstName FIRST given_name".split(),
    "lastf": "last lastName last_name family surname lname LastName LAST family_name".split(),
    "dob": "dob DOB birthDate birth_date date_of_birth dateOfBirth BirthDate bday patient_dob".split(),
    "date": "date visit_date dos admit_date created_at updated serviceDate last_seen appt discharge due expires".split(),
    "addr1": "address addr street_address home_address Address location mailing_address ship_to".split(),
    "street": "street line1 address1 addr_line1 street1 Street".split(),
    "zip": "zip postalCode zip_code ZIP postal".split(), "city": "city town City CITY".split(),
    "name1": "provider doctor attending author created_by physician nurse pcp emergency_contact guardian next_of_kin approved_by".split(),
    "phone": "phone tel mobile".split(), "mrn": "mrn MRN id chart".split(), "email": ["email"], "state": ["state"], "sex": ["sex", "gender"],
    "dx": "dx diagnosis problem".split(), "drug": "drug med rx allergy".split(), "insurer": ["payer", "plan"], "org": "facility clinic site".split(), "n": "room age qty score".split(),
}


def record(d):
    """Key-value data in a developer's or exporter's format."""
    r = d.r
    keys = r.sample(list(FIELDS), r.randint(3, 8))
    style = r.choice(["json", "json", "kv", "xml", "sql", "log", "yaml", "python", "query"])
    if r.random() < 0.5:
        d.add(r.choice(["Why does this fail?\n", "Parse this:\n", "Fix my payload: ", "Row from prod:\n", "Convert to CSV: ", "Here is a sample record\n", "debug pls ", "POST body:\n", "error log:\n"]))
    opening = {"json": "{", "xml": "<patient>", "sql": "INSERT INTO patients VALUES (", "log": f"2026-0{r.randint(1, 9)}-1{r.randint(0, 9)}T10:{r.randint(10, 59)}:00Z {r.choice(['INFO', 'ERROR', 'WARN'])} ", "python": "patient = dict(", "query": "/search?"}
    d.add(opening.get(style, ""))
    for place, slot in enumerate(keys):
        key = r.choice(FIELDS[slot])
        before, after = {
            "json": (f'"{key}": "', '"'), "kv": (f"{key}={r.choice(['', ' '])}", ""), "xml": (f"<{key}>", f"</{key}>"), "sql": ("'", "'"),
            "log": (f"{key}={r.choice(['', chr(34)])}", ""), "yaml": (f"{key}: ", ""), "python": (f"{key}='", "'"), "query": (f"{key}=", "")}[style]
        join = {"json": ", ", "kv": r.choice(["; ", " ", ", ", "|"]), "xml": "", "sql": ", ", "log": " ", "yaml": "\n", "python": ", ", "query": "&"}[style]
        d.add((join if place else "") + before)
        d.fill(slot)
        d.add(after)
    d.add({"json": "}", "xml": "</patient>", "sql": ");", "python": ")"}.get(style, ""))


def table(d):
    """CSV, tab or pipe table, or a list of people."""
    r = d.r
    columns = r.sample(["name", "lf", "firstf", "lastf", "dob", "date", "addr1", "street", "city", "zip", "phone", "mrn", "dx", "drug", "name1", "sex", "n", "insurer"], r.randint(3, 7))
    if not {"name", "lf", "firstf", "lastf"} & set(columns):
        columns[0] = r.choice(["name", "lf"])
    sep = r.choice([",", ", ", "\t", " | ", "|", ";", "  "])
    if r.random() < 0.65:
        d.add(sep.join(r.choice(FIELDS.get(c, FIELDS["name"])) for c in columns) + "\n")
    for row in range(r.randint(2, 6)):
        d.cast = {}
        for place, column in enumerate(columns):
            d.add(sep if place else "")
            quote = '"' if column in ("lf", "addr1") and sep.startswith(",") else ""
            d.add(quote)
            d.fill(column)
            d.add(quote)
        d.add("\n")


def x12(d):
    r, p = d.r, d.who("p")
    end = r.choice(["~", "~\n"])
    d.add(f"ST*837*0001{end}BHT*0019*00*{r.randint(1, 9999)}*")
    d.add(V.other_date(r).strftime("%Y%m%d"), "DATE")
    d.add(f"*1023*CH{end}NM1*{r.choice(['IL', 'QC', '85', '82', 'DK'])}*1*")
    d.add("*".join([p["last"].upper(), p["first"].upper()] + ([p["middle"][0].upper()] if r.random() < 0.5 else [])), "NAME")
    d.add(f"{'*' * r.randint(1, 4)}MI*{d.plain('id')}{end}N3*")
    d.add(f"{d.house()} {d.street_name()}".upper(), "ADDRESS")
    d.add(f"{end}N4*")
    d.add(d.town().upper(), "LOCATION")
    d.add(f"*{r.choice(V.STATES[:50])}*")
    d.add(d.zip(), "ADDRESS")
    d.add(f"{end}DMG*D8*")
    d.add(V.birth_date(r).strftime("%Y%m%d"), "DOB")
    d.add(f"*{r.choice('MF')}{end}")


def bare_list(d):
    """Names, addresses or dates with next to nothing around them."""
    r = d.r
    slot = r.choice(["name", "lf", "name", "prov", "addr1", "dob", "first"])
    sep = r.choice(["\n", ", ", "; ", " / ", "\n- ", "\n* ", " and "])
    if r.random() < 0.6:
        d.add({"dob": "birth dates: ", "addr1": r.choice(["addresses: ", "sites: ", ""])}.get(slot, r.choice(["patients: ", "attendees: ", "on call: ", "cc ", "team: ", "- ", "today's list\n", "siblings: ", ""])))
    elif slot == "dob":
        d.add("DOB ")
    for i in range(r.randint(1, 5)):
        d.cast = {}
        d.add(sep if i else "")
        d.fill(slot)


REGISTERS = [
    # (name, weight)
    ("clinician", 22), ("chat", 13), ("patient", 9), ("billing", 7), ("notes", 10), ("handoff", 6), ("dialogue", 9), ("letters", 5),
    ("forms", 9), ("general", 8), ("developer", 6), ("reports", 10), ("negatives", 14), ("hard", 26), ("hardneg", 9), ("everyday", 42), ("casual", 26), ("talk", 7), ("hl7", 3), ("fhir", 3), ("record", 8), ("table", 5), ("x12", 1), ("list", 4), ("background", 22),
]
LENGTHS = {"clinician": (1, 4), "chat": (1, 3), "patient": (1, 4), "billing": (1, 3), "notes": (2, 7), "handoff": (1, 4),
           "dialogue": (2, 9), "letters": (1, 1), "forms": (2, 9), "general": (1, 3), "developer": (1, 2), "reports": (1, 3), "negatives": (1, 4), "hard": (1, 4), "hardneg": (1, 4), "casual": (1, 6), "everyday": (2, 9)}


PERSON = re.compile(
    r"\b(?:[Tt]he|[Tt]his|[Oo]ur|[Mm]y) patient\b|\b(?:Dr|Mr|Ms|Mrs)\.? (?:[XYZ]+|ABC|[A-Z])\b|\b[Hh]e\b|\b[Ss]he\b|\bhim\b|\b[Hh]is\b"
    r"|\b[Mm]y (?:mother|father|wife|husband|son|daughter|mom|dad|sister|brother|doctor|friend)\b|\bPatient\b(?! ?:)"
)


def with_people(d, sentence, share):
    """Writes a real sentence, with some of its pronouns and patients turned into people."""
    r, place = d.r, 0
    for match in PERSON.finditer(sentence):
        if r.random() > share:
            continue
        d.add(sentence[place:match.start()])
        word = match.group().lower()
        if word.startswith("dr"):
            d.fill("dr")
        elif word.startswith(("mr", "ms")):
            d.fill("title")
        elif word.startswith("my ") and word != "my patient":
            d.add(match.group() + r.choice([" ", ", ", " "]))
            d.fill("fam")
        else:
            d.fill(r.choice(["title", "name", "first", "last", "first", "name", "lf"] if word != "him" else ["first", "name", "title"]))
            if word == "his":
                d.add("'s")
        place = match.end()
    d.add(sentence[place:])


def background(d, texts):
    """A stretch of real PHI-free text with people put into it."""
    r = d.r
    sentences = re.split(r"(?<=[.!?\n,])\s+", r.choice(texts))
    start = r.randrange(max(1, len(sentences) - 6))
    if r.random() < 0.2:
        for _ in range(r.randint(1, 3)):
            render_any(d, "forms")
            d.add("\n")
    for sentence in sentences[start:start + r.randint(3, 10)]:
        with_people(d, sentence, 0.35)
        d.add(" ")
        if r.random() < 0.15:
            d.cast = {} if r.random() < 0.3 else d.cast
            render_any(d, r.choice(["notes", "clinician", "clinician", "handoff", "patient", "general"]))
            d.add(r.choice([" ", "\n"]))


def talk(d, texts):
    """Real utterances, with speakers and people spoken to."""
    r = d.r
    utterances = [u.split(":", 1)[-1].strip() for u in re.split(r"\n|(?<=[.?!]) ", r.choice(texts)) if len(u) > 8]
    style = r.choice(["name", "name", "role", "bracket", "none", "chat"])
    for utterance in utterances[:r.randint(2, 9)]:
        if style == "chat" or style == "bracket":
            utterance = re.sub(r"[.,!?]", r.choice(["", "", " ."]), utterance).lower()
        if style == "name":
            d.add(r.choice(["", "<", "[", ""]))
            d.fill(r.choice(["first", "first1", "name", "title", "first1"]))
            d.add(r.choice([": ", ": ", "> ", "] ", ":"]))
        elif style == "role":
            d.add(r.choice(["Doctor: ", "Patient: ", "Nurse: ", "Guest_family: ", "Caller: "]))
        elif style == "bracket":
            d.add(r.choice(["[doctor] ", "[patient] "]))
        u = r.random()
        if u < 0.16:
            d.add(r.choice(["hi ", "so ", "okay ", "well ", "alright ", "hey ", "Hi, ", "Okay, ", "So, ", "Thanks, ", "", ""]))
            d.fill(r.choice(["first", "first1", "title", "dr"]))
            d.add(r.choice([", ", " ", ". ", " , "]))
        with_people(d, utterance.rstrip(".") if u > 0.9 else utterance, 0.25)
        if u > 0.9:
            d.add(r.choice([", ", " ", ", ", " , "]))
            d.fill(r.choice(["first", "first", "title", "dr"]))
            d.add(r.choice([".", "", "?", " .", "!"]))
        d.add("\n" if style != "chat" else r.choice([" ", "\n"]))


def damage(d):
    """A few reading errors in names: rn for m, 0 for o, 1 for l; lengths may not change."""
    text = list(d.text)
    for start, end, kind in d.spans:
        if kind == "NAME" and d.r.random() < 0.6:
            for place in range(start, end):
                swap = {"o": "0", "l": "1", "i": "1", "s": "5", "e": "3", "a": "@"}.get(text[place])
                if swap and d.r.random() < 0.3:
                    text[place] = swap
                    break
    return "".join(text)


def make(r, names, texts, register=None, origin=None):
    """One document: (register, text, spans)."""
    d = Document(r, names, origin)
    register = register or r.choices([name for name, _ in REGISTERS], [weight for _, weight in REGISTERS])[0]
    made = {"hl7": hl7, "fhir": fhir, "record": record, "table": table, "x12": x12, "list": bare_list}.get(register)
    if made:
        made(d)
    elif register in ("background", "talk"):
        (background if register == "background" else talk)(d, texts)
    else:
        low, high = LENGTHS[register]
        join = r.choice(["\n", "\n", "\t", "   ", " | ", "; ", ", "]) if register == "forms" else None
        for place in range(r.randint(low, high)):
            if place:
                d.add(join or ("\n" if register == "dialogue" or register == "everyday" and r.random() < 0.7 else r.choice([" ", " ", "\n", "\n\n"])))
            if r.random() < 0.12 and register not in ("forms", "dialogue"):
                d.cast = {}
            render_any(d, register if r.random() < 0.88 or register in ("forms", "negatives") else "negatives")
    text = damage(d) if r.random() < 0.01 else d.text
    return register, text, d.spans


def load_lists(path):
    with gzip.open(path, "rt") as file:
        return json.load(file)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--lists", required=True)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--register")
    arguments = parser.parse_args()
    randomness = random.Random(arguments.seed)
    drawn = Names(load_lists(arguments.lists), held_out=False)
    for _ in range(arguments.count):
        register, text, spans = make(randomness, drawn, ["The patient was seen. No fever."], arguments.register)
        print(f"== {register}\n{text}")
        print("   ", [(text[start:end], kind) for start, end, kind in spans])
