"""A bare spaCy model that labels persons: `peer_spacy.py FOLDER_OF_THE_MODEL`."""

import sys

import spacy

from lines import serve

KINDS = {"PERSON": "NAME", "PER": "NAME", "LOC": "LOCATION", "GPE": "LOCATION", "DATE_TIME": "DATE"}

model = spacy.load(sys.argv[1])


def detect(text):
    return [(found.start_char, found.end_char, found.label_) for found in model(text).ents]


serve(detect, KINDS)
