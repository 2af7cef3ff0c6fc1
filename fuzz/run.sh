#!/bin/sh
# Builds the fuzzer and gives each target random inputs for a while: fuzz/run.sh [SECONDS [TARGET…]]; 0 seconds only builds.
# Any toolchain will do, with coverage feedback; TOOLCHAIN=+nightly adds AddressSanitizer. cargo-fuzz is not needed, a C++
# compiler is; FEATURES=--no-default-features leaves out what takes long to build. Inputs that broke something are kept in fuzz/artifacts, inputs that reached new code in fuzz/corpus, and
# the executions of every run in fuzz/runs.tsv.
set -eu
cd "$(dirname "$0")"
seconds=${1:-60}
[ $# -gt 0 ] && shift
target=$(rustc -vV | sed -n 's/^host: //p')
flags="--cfg fuzzing -Cdebug-assertions -Cpasses=sancov-module
-Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters
-Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares"
toolchain=${TOOLCHAIN:-}
[ -z "$toolchain" ] || flags="$flags -Zsanitizer=address"
RUSTFLAGS=$(echo $flags) cargo $toolchain build --quiet --release --target "$target" ${FEATURES:-}
fuzzer="target/$target/release/phigate-fuzz"
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
done
