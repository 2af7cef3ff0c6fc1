#!/bin/sh
# Kills writers at random moments, many times, on both engines, then looks whether anything that was
# acknowledged is lost or doubled and whether the trail is whole. ROUNDS sets the kills per engine.
set -eu
cd "$(dirname "$0")/../.."
ROUNDS="${ROUNDS:-500}"
echo "store: $ROUNDS kills per engine"
PHIGATE_TORTURE="$ROUNDS" cargo test -p phigate-store --test torture -- --nocapture --test-threads=1
echo "store: database locked, disk full, hanging, slow and read-only, PostgreSQL stopped, frozen and restarted"
cargo test -p phigate-store --test faults -- --test-threads=1
echo "gateway: the same under requests"
cargo test -p phigate --test store_faults -- --test-threads=1
