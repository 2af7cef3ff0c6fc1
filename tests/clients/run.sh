#!/usr/bin/env bash
# Runs official SDKs and frameworks against `phigate demo`, for all three families, and the blocks of docs/clients.md
# whose programs install quickly. Installs under target/clients.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=target/clients
mkdir -p "$work"

stamp=$(cat tests/clients/requirements.txt tests/clients/package-lock.json | sha256sum | cut -d' ' -f1)
if [ "$(cat "$work/stamp" 2>/dev/null || true)" != "$stamp" ]; then
  python3 -m venv "$work/venv"
  "$work/venv/bin/pip" install --quiet --disable-pip-version-check --requirement tests/clients/requirements.txt
  cp tests/clients/package.json tests/clients/package-lock.json "$work/"
  npm ci --prefix "$work" --no-audit --no-fund --silent
  echo "$stamp" >"$work/stamp"
fi

# Node searches packages beside the script, so the scripts are copied to the packages.
cp tests/clients/*.mjs "$work/"
"$work/venv/bin/python" tests/clients/run.py "$@"
[ $# -gt 0 ] || exec "$work/venv/bin/python" tests/clients/docs.py
