"""openmed, the patterns it runs beside its models (the models are not in a package registry)."""

from openmed.core.pii_entity_merger import find_semantic_units

from lines import serve

KINDS = {
    "date_of_birth": "DOB",
    "phone_number": "PHONE",
    "street_address": "ADDRESS",
    "medical_record_number": "MRN",
    "zipcode": "LOCATION",
    "postcode": "LOCATION",
}


def detect(text):
    return [(unit[0], unit[1], unit[2]) for unit in find_semantic_units(text)]


serve(detect, KINDS)
