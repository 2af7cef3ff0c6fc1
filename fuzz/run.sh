#!/bin/sh
# Builds the fuzz targets and runs each for a while: fuzz/run.sh [SECONDS [TARGET…]].
# Any toolchain will do, with coverage feedback; a nightly one adds AddressSanitizer. cargo-fuzz is not needed, a C++
# compiler is. Inputs that broke something are kept in fuzz/artifacts; inputs that reached new code in fuzz/corpus.
set -eu
cd "$(dirname "$0")"
seconds=${1:-60}
[ $# -gt 0 ] && shift
target=$(rustc -vV | sed -n 's/^host: //p')
flags="--cfg fuzzing -Ccodegen-units=1 -Cdebug-assertions -Cpasses=sancov-module
-Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters
-Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares"
toolchain=
if cargo +nightly --version >/dev/null 2>&1; then
    toolchain=+nightly
    flags="$flags -Zsanitizer=address"
fi
RUSTFLAGS=$(echo $flags) cargo $toolchain build --release --target "$target"
all=$(sed -n 's/^name = "\(.*\)"/\1/p' Cargo.toml | tail -n +2)
for name in ${*:-$all}; do
    mkdir -p "corpus/$name" "artifacts/$name"
    echo "$name for $seconds seconds"
    "target/$target/release/$name" -max_total_time="$seconds" -max_len=2048 -len_control=0 -dict=words.dict \
        -artifact_prefix="artifacts/$name/" -print_final_stats=1 "corpus/$name"
done
