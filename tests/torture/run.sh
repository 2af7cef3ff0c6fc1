#!/bin/sh
# Kills writers at random moments, many times, on both engines, then looks whether anything that was
# acknowledged is lost or doubled and whether the trail is whole; kills the whole gateway under requests at every door;
# then every fault of the store. KILLS sets the kills in all, SEED their moments.
set -eu
cd "$(dirname "$0")/../.."
KILLS="${KILLS:-1000}"
export PHIGATE_TORTURE_SEED="${SEED:-$(date +%s)}"
# Each engine gets nearly half; the whole gateway starts slowly and gets a twentieth.
gateway=$((KILLS / 20)) engine=$(((KILLS - KILLS / 20) / 2))
echo "store: $engine kills per engine, seed $PHIGATE_TORTURE_SEED"
PHIGATE_TORTURE="$engine" cargo test -q -p phigate-store --test torture -- --nocapture --test-threads=1
echo "gateway: $gateway kills"
PHIGATE_TORTURE="$gateway" cargo test -q -p phigate --test kills -- --nocapture
[ -z "${FAULTS-yes}" ] && exit 0
echo "store: database locked, disk full, hanging, slow and read-only, PostgreSQL stopped, frozen and restarted"
cargo test -q -p phigate-store --test faults -- --test-threads=1
echo "gateway: the same under requests"
cargo test -q -p phigate --test store_faults -- --test-threads=1
