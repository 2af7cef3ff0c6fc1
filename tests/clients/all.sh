#!/usr/bin/env bash
# Runs the blocks of docs/clients.md whose programs take long to install: Claude Code, Codex, LlamaIndex and LiteLLM,
# and Open WebUI (some gigabytes) if OPEN_WEBUI=1 is set. Arguments are names of sections; without arguments all run.
# Installs under target/clients/all.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=target/clients/all
from=tests/clients/all
mkdir -p "$work"

environment() { # NAME REQUIREMENTS
  python3 -m venv "$work/$1"
  "$work/$1/bin/pip" install --quiet --disable-pip-version-check --requirement "$2"
}

stamp=$(cat $from/*.txt $from/package-lock.json | sha256sum | cut -d' ' -f1)
if [ "$(cat "$work/stamp" 2>/dev/null || true)" != "$stamp" ]; then
  environment venv $from/llamaindex.txt
  environment litellm $from/litellm.txt
  cp $from/package.json $from/package-lock.json "$work/"
  npm ci --prefix "$work" --no-audit --no-fund --silent
  echo "$stamp" >"$work/stamp"
fi
if [ -n "${OPEN_WEBUI:-}" ] && [ ! -x "$work/open-webui/bin/open-webui" ]; then
  echo "open-webui==0.12.4" >"$work/open-webui.txt"
  environment open-webui "$work/open-webui.txt"
fi
exec "$work/venv/bin/python" tests/clients/docs.py --all "$@"
