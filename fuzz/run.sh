#!/bin/sh
# Builds the fuzz targets and runs each for a while: fuzz/run.sh [SECONDS [TARGET…]].
# Needs a nightly toolchain, but not cargo-fuzz. Texts that broke something are kept in
# fuzz/artifacts; texts that reached new code in fuzz/corpus.
set -eu
cd "$(dirname "$0")"
seconds=${1:-60}
[ $# -gt 0 ] && shift
if ! cargo +nightly --version >/dev/null 2>&1; then
    echo "no nightly toolchain: not fuzzed (rustup toolchain install nightly)" >&2
    echo "tests/properties.rs of phi-detect tries random texts on any toolchain" >&2
    exit 1
fi
target=$(rustc -vV | sed -n 's/^host: //p')
coverage="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4
-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table"
RUSTFLAGS="--cfg fuzzing $(echo $coverage) -Zsanitizer=address -Ccodegen-units=1 -Cdebug-assertions" \
    cargo +nightly build --release --target "$target"
for name in ${*:-scan mask reply}; do
    mkdir -p "corpus/$name" "artifacts/$name"
    echo "$name for $seconds seconds"
    "target/$target/release/$name" -max_total_time="$seconds" -max_len=2048 -len_control=0 -dict=words.dict \
        -artifact_prefix="artifacts/$name/" "corpus/$name"
done
