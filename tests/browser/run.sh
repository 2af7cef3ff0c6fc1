#!/usr/bin/env bash
# Drives the dashboard in a real Chromium. Needs node, npm and Chromium; PHIGATE may name another binary.
set -euo pipefail
cd "$(dirname "$0")"
[ -d node_modules/playwright-core ] || npm ci --silent --no-audit --no-fund
export PHIGATE="${PHIGATE:-$(cd ../.. && pwd)/target/debug/phigate}"
exec node --test --test-concurrency=2 ./*.test.mjs
