#!/bin/sh
# Kills writers at random moments on both engines and checks that no acknowledged record is lost or doubled and that the
# trail verifies; kills the whole gateway under requests at every door; then tries every fault of the store. KILLS is
# the total of kills, SEED sets their moments; ONLY=sqlite, postgresql or gateway gives all kills to one target, and
# FAULTS= skips the faults. Every passed batch adds its figures to target/torture.tsv, so a stopped run counts up to
# its last batch; the totals are printed at the end, or alone with KILLS=0.
set -eu
cd "$(dirname "$0")/../.."
KILLS="${KILLS:-1000}"
export PHIGATE_TORTURE_SEED="${SEED:-$(date +%s)}" PHIGATE_TORTURE_LOG="$PWD/target/torture.tsv"
sums() {
    [ -e "$PHIGATE_TORTURE_LOG" ] || return 0
    awk -F'\t' '{ runs[$2]++; kills[$2] += $4; all += $4; for (i = 5; i <= NF; i++) sum[$2, i] += $i }
        END {
            for (engine in kills) {
                printf "%s: %d kills in %d batches", engine, kills[engine], runs[engine]
                if (engine == "gateway")
                    printf ", %d requests reached a provider, %d answered, %d records\n", sum[engine, 5], sum[engine, 6], sum[engine, 7]
                else
                    printf ", %d decisions, %d attempts and %d outcomes acknowledged, %d cut off, %d not yet told\n", \
                        sum[engine, 5], sum[engine, 6], sum[engine, 7], sum[engine, 8], sum[engine, 9]
            }
            printf "%d kills in all; 0 records lost, 0 doubled\n", all
        }' "$PHIGATE_TORTURE_LOG"
}
[ "$KILLS" -gt 0 ] || { sums; exit 0; }
# With the features of the whole workspace, to reuse its build.
tests() { cargo test -q --workspace --test all -- "$@"; }
# Each engine gets nearly half; the gateway starts slowly and gets a twentieth.
gateway=$((KILLS / 20)) engine=$(((KILLS - KILLS / 20) / 2))
[ -z "${ONLY:-}" ] || gateway=$KILLS engine=$KILLS
for place in ${ONLY:-sqlite postgresql gateway}; do
    case $place in
    gateway)
        echo "gateway: $gateway kills, seed $PHIGATE_TORTURE_SEED"
        PHIGATE_TORTURE="$gateway" tests kills:: --nocapture
        ;;
    *)
        echo "$place: $engine kills, seed $PHIGATE_TORTURE_SEED"
        PHIGATE_TORTURE="$engine" tests --nocapture --exact "torture::nothing_acknowledged_is_lost_by_kills_on_$place"
        ;;
    esac
done
sums
[ -n "${FAULTS-yes}" ] || exit 0
echo "store and gateway: database locked, disk full, hanging, slow and read-only, PostgreSQL stopped, frozen and restarted"
tests faults:: --test-threads=1
