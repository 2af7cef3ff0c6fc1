"""phi-boundary-gate, its labelled patterns."""

from phi_boundary_gate.detectors import detect_candidates

from lines import serve

KINDS = {"dob": "DOB", "date_of_birth": "DOB", "medical_record_number": "MRN", "patient_name": "NAME", "street_address": "ADDRESS"}


def detect(text):
    return [(found.start, found.end, found.category) for found in detect_candidates(text)]


serve(detect, KINDS)
