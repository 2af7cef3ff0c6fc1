"""Presidio with a spaCy model: `peer_presidio.py FOLDER_OF_THE_MODEL`. Its Medicare recogniser is switched on."""

import sys

from presidio_analyzer import AnalyzerEngine, RecognizerRegistry
from presidio_analyzer.nlp_engine import NlpEngineProvider
from presidio_analyzer.predefined_recognizers import UsMbiRecognizer

from lines import serve

KINDS = {
    "PERSON": "NAME",
    "PHONE_NUMBER": "PHONE",
    "EMAIL_ADDRESS": "EMAIL",
    "US_SSN": "SSN",
    "US_MBI": "MEDICARE_ID",
    "DATE_TIME": "DATE",
}

model = {"lang_code": "en", "model_name": sys.argv[1]}
engine = NlpEngineProvider(nlp_configuration={"nlp_engine_name": "spacy", "models": [model]}).create_engine()
registry = RecognizerRegistry()
registry.load_predefined_recognizers(languages=["en"], nlp_engine=engine)
registry.add_recognizer(UsMbiRecognizer())
analyzer = AnalyzerEngine(registry=registry, nlp_engine=engine)


def detect(text):
    return [(found.start, found.end, found.entity_type) for found in analyzer.analyze(text, language="en")]


serve(detect, KINDS)
