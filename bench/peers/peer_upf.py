"""universal-pii-firewall."""

import upf

from lines import serve

KINDS = {"DATE_OF_BIRTH": "DOB", "NATIONAL_ID": "SSN"}


def detect(text):
    return [(found["start"], found["end"], found["type"]) for found in upf.sanitize_text_with_details(text).entities]


serve(detect, KINDS)
