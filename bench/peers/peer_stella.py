"""stella-anonymize-core, its English pipeline."""

import stella_anonymize

from lines import serve

KINDS = {
    "person": "NAME",
    "email address": "EMAIL",
    "phone number": "PHONE",
    "social security number": "SSN",
    "date of birth": "DOB",
    "registration number": "MRN",
    "medical record number": "MRN",
}

pipeline = stella_anonymize.create_pipeline(language="en")


def detect(text):
    return [(found.start, found.end, found.label) for found in pipeline.redact_text(text).resolved_entities]


serve(detect, KINDS)
