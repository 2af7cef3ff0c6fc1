#!/bin/sh
# Builds the fuzzer and gives each target random inputs for a while: fuzz/run.sh [SECONDS [TARGET…]]; 0 only builds.
# Needs any Rust toolchain and a C++ compiler. Failing inputs are kept in fuzz/artifacts, inputs that reached new code in
# fuzz/corpus, and the executions of every run in fuzz/runs.tsv, whose total is printed at the end.
# Each target is a separate program; BUILT=yes reuses those of the last run. KEEP=yes also writes a minimal set of inputs
# with the same coverage to fuzz/kept, for the tests and the next run.
set -eu
cd "$(dirname "$0")"
seconds=${1:-60}
[ $# -gt 0 ] && shift
fuzzers=${CARGO_TARGET_DIR:-$PWD/../target}/fuzzers
mkdir -p "$fuzzers"
build() { # name of the program, and of its target if it has only one
    [ -z "${2:-}" ] || export FUZZ_ONLY="$2"
    CARGO_INCREMENTAL=0 RUSTC_WORKSPACE_WRAPPER="$PWD/rustc.sh" cargo build --quiet --manifest-path ../Cargo.toml \
        --workspace --bin phigate-fuzz --features phigate-fuzz/libfuzzer
    cp "${CARGO_TARGET_DIR:-../target}/debug/phigate-fuzz" "$fuzzers/$1"
}
[ -n "${BUILT:-}" ] || build all
names=${*:-$(FUZZ_TARGET=list "$fuzzers/all" 2>/dev/null)}
[ -n "${BUILT:-}" ] || for name in $names; do build "$name" "$name"; done
[ "$seconds" -gt 0 ] || exit 0
FUZZ_TARGET=seeds "$fuzzers/all" 2>/dev/null
printf '%-20s %12s %9s %8s\n' target executions seconds inputs
for name in $names; do
    mkdir -p "artifacts/$name"
    log="artifacts/$name.log"
    if ! "$fuzzers/$name" -max_total_time="$seconds" -max_len=2048 -len_control=20 -timeout=20 -rss_limit_mb=4096 \
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
    "$fuzzers/$name" -merge=1 -max_len=2048 "least/$name" "corpus/$name" >>"$log" 2>&1
done
[ -z "${KEEP:-}" ] || FUZZ_TARGET=keep "$fuzzers/all" 2>/dev/null
awk -F'\t' '{ sum += $3; time += $4 } END { printf "%d executions in all runs so far, %.1f hours\n", sum, time / 3600 }' runs.tsv
