"""Shared by the Python clients: arguments, results and prompts."""

import json
import sys

BASE_URL, KEY, MODEL, MODE = sys.argv[1:5]
SSN = "536-22-8741"
WITH_PHI = f"The patient's SSN is {SSN}. Please confirm."
CLEAN = "Say hello to the ward."
WEATHER = {"type": "function", "function": {"name": "get_weather", "description": "Weather of a city", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"], "additionalProperties": False}}}
CLOCK = {"type": "function", "function": {"name": "get_clock", "description": "Time of a city", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"], "additionalProperties": False}}}

failures = 0


def test(name, function):
    """Runs one test and prints its result."""
    global failures
    try:
        detail, ok = function(), True
    except Exception as reason:  # noqa: BLE001: a client may raise anything
        detail, ok = f"{type(reason).__name__}: {str(reason)[:400]}", False
        failures += 1
    print(json.dumps({"test": name, "ok": ok, "detail": str(detail)}), flush=True)


def expect(kind, function):
    """Returns the exception of this kind that the function raises."""
    try:
        function()
    except kind as raised:
        return raised
    raise AssertionError(f"no {kind.__name__} was raised")


def finish():
    sys.exit(1 if failures else 0)
