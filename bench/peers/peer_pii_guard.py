"""pii-guard."""

import pii_guard

from lines import serve

KINDS = {"DATE_OF_BIRTH": "DOB", "MEDICAL_RECORD": "MRN", "MEDICARE": "MEDICARE_ID", "MEDICARE_NUMBER": "MEDICARE_ID"}

detector = pii_guard.PIIDetector()


def detect(text):
    return [(found.start, found.end, found.label) for found in detector.detect(text)]


serve(detect, KINDS)
