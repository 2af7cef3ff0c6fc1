"""datafog, its engine of patterns."""

import datafog

from lines import serve

KINDS = {"PHONE_NUMBER": "PHONE", "ZIP_CODE": "LOCATION", "ZIP": "LOCATION", "PERSON": "NAME"}


def detect(text):
    return [(found.start, found.end, found.type) for found in datafog.scan(text).entities]


serve(detect, KINDS)
