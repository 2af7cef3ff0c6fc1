"""argus-redact, its layer of patterns and name lists."""

import argus_redact

from lines import serve

KINDS = {"person": "NAME", "date_of_birth": "DOB", "us_phone": "PHONE", "us_ssn": "SSN", "medical_record_number": "MRN"}


def detect(text):
    _, _, details = argus_redact.redact(text, lang="en", detailed=True)
    return [(found["start"], found["end"], found["type"]) for found in details["entities"]]


serve(detect, KINDS)
