#!/usr/bin/env bash
# Builds the wheel, installs it in a fresh environment, checks its types and runs its tests.
set -euo pipefail
cd "$(dirname "$0")/../.."
tests/python/wheel.sh
work=target/python
rm -rf "$work/test"
python3 -m venv "$work/test"
"$work/test/bin/pip" install --quiet --disable-pip-version-check --no-index target/wheels/phi_detect-*.whl
# Outside python/, so that the tests import the installed package and not its sources.
"$work/build/bin/mypy" --strict --no-error-summary --python-executable "$work/test/bin/python" \
  --cache-dir "$work/mypy" tests/python/typed.py
"$work/test/bin/python" -m unittest discover --quiet --start-directory python/tests
