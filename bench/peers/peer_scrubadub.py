"""scrubadub with every detector that needs no model."""

import scrubadub
from scrubadub.detectors import date_of_birth, postalcode

from lines import serve

KINDS = {"social_security_number": "SSN", "date_of_birth": "DOB", "postalcode": "LOCATION"}

scrubber = scrubadub.Scrubber(locale="en_US")
for detector in (date_of_birth.DateOfBirthDetector, postalcode.PostalCodeDetector):
    try:
        scrubber.add_detector(detector)
    except ValueError:
        pass  # Not made for US texts.


def detect(text):
    for filth in scrubber.iter_filth(text):
        for part in getattr(filth, "filths", [filth]):
            yield part.beg, part.end, part.type


serve(detect, KINDS)
