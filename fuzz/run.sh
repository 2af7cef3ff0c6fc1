#!/bin/sh
# Builds the fuzzer and gives each target random inputs for a while: fuzz/run.sh [SECONDS [TARGET…]]; 0 only builds.
# Any toolchain will do; a C++ compiler is needed. What broke something is kept in fuzz/artifacts, what reached new code
# in fuzz/corpus, and the executions of every run in fuzz/runs.tsv, whose sum is printed at the end.
# KEEP=yes also writes the fewest inputs that reach as much code to fuzz/kept, for the tests and for the next run.
set -eu
cd "$(dirname "$0")"
seconds=${1:-60}
[ $# -gt 0 ] && shift
CARGO_INCREMENTAL=0 RUSTC_WORKSPACE_WRAPPER="$PWD/rustc.sh" cargo build --quiet --manifest-path ../Cargo.toml \
    --workspace --bin phigate-fuzz --features phigate-fuzz/libfuzzer
fuzzer=${CARGO_TARGET_DIR:-../target}/debug/phigate-fuzz
[ "$seconds" -gt 0 ] || exit 0
FUZZ_TARGET=seeds "$fuzzer"
printf '%-20s %12s %9s %8s\n' target executions seconds inputs
for name in ${*:-$(FUZZ_TARGET=list "$fuzzer")}; do
    mkdir -p "artifacts/$name"
    log="artifacts/$name.log"
    if ! FUZZ_TARGET=$name "$fuzzer" -max_total_time="$seconds" -max_len=2048 -len_control=20 -timeout=20 -rss_limit_mb=4096 \
        -dict=words.dict -artifact_prefix="artifacts/$name/" -print_final_stats=1 "corpus/$name" >"$log" 2>&1; then
        tail -n 40 "$log"
        echo "$name broke; its input is in fuzz/artifacts/$name" >&2
        exit 1
    fi
    executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    inputs=$(ls "corpus/$name" | wc -l)
    printf '%-20s %12s %9s %8s\n' "$name" "$executions" "$seconds" "$inputs"
    printf '%s\t%s\t%s\t%s\n' "$(date -u +%FT%TZ)" "$name" "$executions" "$seconds" >>runs.tsv
    [ -n "${KEEP:-}" ] || continue
    rm -rf "least/$name"
    mkdir -p "least/$name"
    FUZZ_TARGET=$name "$fuzzer" -merge=1 -max_len=2048 "least/$name" "corpus/$name" >>"$log" 2>&1
done
[ -z "${KEEP:-}" ] || FUZZ_TARGET=keep "$fuzzer"
awk -F'\t' '{ sum += $3; time += $4 } END { printf "%d executions in all runs so far, %.1f hours\n", sum, time / 3600 }' runs.tsv
