#!/usr/bin/env bash
# Builds the Python package as a wheel into target/wheels. Build tools are installed under target/python.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=target/python
mkdir -p "$work"

if [ "$(cat "$work/stamp" 2>/dev/null || true)" != "$(sha256sum <tests/python/requirements.txt)" ]; then
  python3 -m venv "$work/build"
  "$work/build/bin/pip" install --quiet --disable-pip-version-check --requirement tests/python/requirements.txt
  sha256sum <tests/python/requirements.txt >"$work/stamp"
fi

rm -f target/wheels/phi_detect-*.whl
"$work/build/bin/maturin" build --quiet --release --locked --manifest-path python/Cargo.toml \
  --target-dir "$PWD/$work/cargo" --out target/wheels
ls target/wheels/phi_detect-*.whl
