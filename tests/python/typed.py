"""Not run: the type checker reads it, and with it what the package says about its types."""

import phi_detect

one: list[phi_detect.Finding] = phi_detect.scan("a")
many: list[list[phi_detect.Finding]] = phi_detect.scan(["a", "b"])
text: str = phi_detect.mask("a")
texts: list[str] = phi_detect.Detector(thresholds={"ssn": 0.5}).redact(("a", "b"))
word: str = one[0].type
start: int = one[0].start
