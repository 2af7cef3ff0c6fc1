"""The Python package beside Presidio in one process: `speed.py DOCUMENTS.jsonl FOLDER_OF_A_SPACY_MODEL [ROUNDS]`.

Both are loaded first and asked once; then the rounds alternate, so that whatever else the machine does is shared.
Printed are thousand characters per CPU second (this process, all its threads) and their ratio, which is what to
believe. `phi-detect, list` is one call with all documents.
"""

import json
import sys
import time

import phi_detect
from presidio_analyzer import AnalyzerEngine
from presidio_analyzer.nlp_engine import NlpEngineProvider

texts = [json.loads(line)["text"] for line in open(sys.argv[1], encoding="utf-8") if line.strip()]
model = {"lang_code": "en", "model_name": sys.argv[2]}
engine = NlpEngineProvider(nlp_configuration={"nlp_engine_name": "spacy", "models": [model]}).create_engine()
presidio = AnalyzerEngine(nlp_engine=engine, supported_languages=["en"])
rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 3

WAYS = {
    "phi-detect": lambda: [phi_detect.scan(text) for text in texts],
    "phi-detect, list": lambda: phi_detect.scan(texts),
    "phi-detect, mask": lambda: [phi_detect.mask(text) for text in texts],
    "presidio": lambda: [presidio.analyze(text, language="en") for text in texts],
}
characters = sum(map(len, texts))
best = dict.fromkeys(WAYS, float("inf"))
phi_detect.scan(texts[0])
presidio.analyze(texts[0], language="en")
for _ in range(rounds):
    for name, work in WAYS.items():
        started = time.process_time()
        work()
        best[name] = min(best[name], time.process_time() - started)
print(f"{len(texts)} texts, {characters} characters")
print("| | thousand characters per CPU second | times Presidio |\n|---|---|---|")
for name, seconds in best.items():
    print(f"| {name} | {characters / seconds / 1000:,.0f} | {best['presidio'] / seconds:,.0f} |")
