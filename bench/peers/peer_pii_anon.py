"""pii-anon, its own engine (the others are wrappers around programs listed here)."""

from pii_anon import PIIOrchestrator
from pii_anon.types import ProcessingProfileSpec, SegmentationPlan

from lines import serve

KINDS = {
    "PERSON_NAME": "NAME",
    "EMAIL_ADDRESS": "EMAIL",
    "PHONE_NUMBER": "PHONE",
    "US_SSN": "SSN",
    "DATE_OF_BIRTH": "DOB",
    "MEDICAL_RECORD_NUMBER": "MRN",
    "DATE_TIME": "DATE",
}

peer = PIIOrchestrator(token_key="unused")
profile = ProcessingProfileSpec(profile_id="default", mode="weighted_consensus", language="en")
whole = SegmentationPlan(enabled=False)


def detect(text):
    answer = peer.detect_only({"text": text}, profile=profile, segmentation=whole, scope="etl", token_version=1)
    for found in answer["ensemble_findings"]:
        yield found["span"]["start"], found["span"]["end"], found["entity_type"]


serve(detect, KINDS)
