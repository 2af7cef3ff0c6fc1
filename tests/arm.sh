#!/bin/sh
# Tests the detector built for 64-bit ARM by emulation, with dot products and without: the name model has separate kernels
# there (names/simd/arm.rs). Then compares the findings in the texts of model/ with this machine's, to the last bit of
# every score.
#
# Fails if a required program is missing; with --if-possible it only reports this.
set -eu
cd "$(dirname "$0")/.."
target=aarch64-unknown-linux-musl
with_dots=max
without_dots=cortex-a57

missing() {
    echo "the ARM build is not tested: $1"
    [ "$possible" = --if-possible ]
    exit
}
possible=${1:-}
command -v qemu-aarch64 >/dev/null 2>&1 ||
    missing "there is no qemu-aarch64 (Debian's package qemu-user)"
[ -n "$(find "$(rustc --print sysroot)/lib/rustlib/$target/lib" -name 'libstd-*.rlib' 2>/dev/null)" ] ||
    missing "Rust's standard library for it is not here (rustup target add $target)"

# This target contains everything for linking but the linker, and Rust has one for every target.
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_LINKER=rust-lld
export CARGO_INCREMENTAL=0
# Compiles faster; the tests take only seconds.
for_arm="--package phi-detect --target $target --config profile.dev.package.phi-detect.opt-level=1"

# Skipped tests take minutes here, since the reader is slow under emulation, or do not depend on the processor.
tests="names:: identifiers::"
for cpu in $with_dots $without_dots; do
    echo "as $cpu:"
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_RUNNER="qemu-aarch64 -cpu $cpu"
    # shellcheck disable=SC2086 # lists of words
    cargo test --quiet $for_arm --lib --test all -- $tests
    cargo test --quiet --package phi-kernels --target $target
done

# With the features of the whole workspace, to reuse the build of the tests.
cargo build --quiet --workspace --example scan_jsonl
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 model/marked.py model/kept >"$work/texts"
python3 model/marked.py model/unseen >>"$work/texts"
# The reader computes with the same kernels on every ARM processor: a few short texts show its bits.
awk 'length < 700' "$work/texts" | awk 'NR % 24 == 0' | head -n 12 >"$work/few"

# Compares the findings of a processor in a file of texts with this machine's; further arguments are scan_jsonl's.
compare() {
    cpu=$1 texts=$2
    shift 2
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_RUNNER="qemu-aarch64 -cpu $cpu"
    "${CARGO_TARGET_DIR:-target}/debug/examples/scan_jsonl" "$@" <"$texts" >"$work/here"
    # shellcheck disable=SC2086 # a list of words
    cargo run --quiet $for_arm --example scan_jsonl -- "$@" <"$texts" >"$work/there"
    diff "$work/here" "$work/there" >"$work/differences" || {
        echo "as $cpu, $(grep -c '^>' "$work/differences") of $(wc -l <"$texts") texts have other findings:"
        head -n 6 "$work/differences"
        exit 1
    }
    echo "as $cpu $*: the same findings in $(wc -l <"$texts") texts"
}
compare $with_dots "$work/texts" --fast
compare $without_dots "$work/texts" --fast
compare $with_dots "$work/few"
