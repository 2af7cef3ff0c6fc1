#!/bin/sh
# Tests the detector as it is built for 64-bit ARM, by emulation: the name model has kernels of its own there
# (names/simd/arm.rs). Once as a processor with dot products, once as one without. Then compares what is found in the texts of
# model/, to the last bit of every score, with what this machine finds.
#
# Fails where what it needs is missing; with --if-possible it then only says so.
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

# This target brings all it needs to be linked but the linker, and Rust has one for every target.
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_LINKER=rust-lld
export CARGO_INCREMENTAL=0
# Less time for the compiler, more for the few seconds of tests.
for_arm="--package phi-detect --target $target --config profile.dev.package.phi-detect.opt-level=1"

# What is left out takes minutes here, or does not depend on the processor.
tests="names:: disguises:: documents:: identifiers:: structures:: tables:: unseen::"
for cpu in $with_dots $without_dots; do
    echo "as $cpu:"
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_RUNNER="qemu-aarch64 -cpu $cpu"
    # shellcheck disable=SC2086 # lists of words
    cargo test --quiet $for_arm --lib --test all -- $tests
done

# With the features of the whole workspace, as the tests build it: nothing is built a second time.
cargo build --quiet --workspace --example scan_jsonl
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 model/marked.py model/kept >"$work/texts"
python3 model/marked.py model/unseen >>"$work/texts"
"${CARGO_TARGET_DIR:-target}/debug/examples/scan_jsonl" <"$work/texts" >"$work/here"
for cpu in $with_dots $without_dots; do
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_RUNNER="qemu-aarch64 -cpu $cpu"
    # shellcheck disable=SC2086 # a list of words
    cargo run --quiet $for_arm --example scan_jsonl <"$work/texts" >"$work/there"
    diff "$work/here" "$work/there" >"$work/differences" || {
        echo "as $cpu, $(grep -c '^>' "$work/differences") of $(wc -l <"$work/texts") texts have other findings:"
        head -n 6 "$work/differences"
        exit 1
    }
done
echo "the same findings in $(wc -l <"$work/texts") texts"
