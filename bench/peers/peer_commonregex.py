"""commonregex: e-mail, phone, street address, date."""

import commonregex

from lines import serve

PATTERNS = {
    "EMAIL": commonregex.email,
    "PHONE": commonregex.phone,
    "ADDRESS": commonregex.street_address,
    "DATE": commonregex.date,
}


def detect(text):
    for kind, pattern in PATTERNS.items():
        for match in pattern.finditer(text):
            yield match.start(), match.end(), kind


serve(detect, {})
