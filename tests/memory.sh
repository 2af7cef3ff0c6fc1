#!/bin/sh
# Runs the tests of the one module with `unsafe` (the name model's vector kernels, and their
# plain twins) under the memory checkers that are installed, and names missing ones:
#   Miri               plain Rust and SSE2, the strictest; Miri knows no wider vectors
#   AddressSanitizer   every kernel this processor can run
#   Valgrind           plain Rust, SSE2 and AVX2
set -eu
cd "$(dirname "$0")/.."
target=$(rustc -vV | sed -n 's/^host: //p')
ran=0

if cargo +nightly miri --version >/dev/null 2>&1; then
    cargo +nightly miri test -p phi-detect --lib -- names::simd names::set swar
    ran=1
else
    echo "Miri is missing: rustup toolchain install nightly --component miri rust-src"
fi

if cargo +nightly --version >/dev/null 2>&1; then
    RUSTFLAGS="-Zsanitizer=address" cargo +nightly test -p phi-detect --lib \
        --target "$target" --target-dir target/sanitized -- names swar
    ran=1
else
    echo "AddressSanitizer is missing: rustup toolchain install nightly"
fi

if command -v valgrind >/dev/null 2>&1; then
    binary=$(cargo test -p phi-detect --lib --no-run --message-format=json 2>/dev/null |
        sed -n 's/.*"executable":"\([^"]*\)".*/\1/p' | tail -1)
    valgrind --quiet --error-exitcode=1 "$binary" names swar
    ran=1
else
    echo "Valgrind is missing"
fi

[ "$ran" = 1 ]
