"""phileas-redact with every filter that needs no server."""

from phileas.policy.policy import Policy
from phileas.services.filter_service import FilterService

from lines import serve

FILTERS = ["age", "emailAddress", "ssn", "phoneNumber", "zipCode", "date", "streetAddress", "url", "ipAddress"]
KINDS = {
    "email-address": "EMAIL",
    "phone-number": "PHONE",
    "street-address": "ADDRESS",
    "zip-code": "LOCATION",
}

policy = Policy.from_dict({"name": "all", "identifiers": {name: {} for name in FILTERS}})
service = FilterService()


def detect(text):
    for found in service.filter(policy, "bench", "document", text).spans:
        yield found.character_start, found.character_end, found.filter_type


serve(detect, KINDS)
