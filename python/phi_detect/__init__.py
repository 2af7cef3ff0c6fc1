"""Finds protected health information (PHI) in text."""

from ._native import KINDS, PROFILES, Detector, Finding, __version__

__all__ = ["KINDS", "PROFILES", "Detector", "Finding", "__version__", "mask", "redact", "scan"]

_default = Detector()

scan = _default.scan
mask = _default.mask
redact = _default.redact
