"""phi-scrub: SSN, phone, e-mail."""

import phi_scrub

from lines import from_bytes, serve

scrubber = phi_scrub.Scrubber()


def detect(text):
    point = from_bytes(text)
    return [(point(found.start), point(found.end), found.category) for found in scrubber.detect(text)]


serve(detect, {})
