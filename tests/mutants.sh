#!/bin/sh
# Changes one place at a time in the files that guard the promises, and runs the tests that should notice.
# Needs cargo-mutants (cargo install cargo-mutants). FILES takes other files; the list of survivors is in target/mutants.
set -eu
cd "$(dirname "$0")/.."
run() { # package, tests, files…
    package=$1 tests=$2
    shift 2
    files=
    for file in "$@"; do files="$files --file crates/$package/$file"; done
    cargo mutants --package "$package" $files --output "target/mutants/$package" --timeout 120 --baseline skip \
        --in-place --no-shuffle -- $tests || true
}
run phigate-edge "--lib" src/chunked.rs src/head.rs src/client.rs src/proxies.rs src/queue.rs
run phigate-core "--lib --test protect --test json --test attacks" src/protect/apply.rs src/protect/rewrite.rs src/protect/located.rs src/json/string.rs src/json/read.rs src/egress.rs
run phigate-store "--lib --test contract --test tamper" src/chain.rs src/writer/lane.rs
run phigate-verify "" src/chain.rs src/follow.rs src/checkpoint.rs
run phigate-gateway "--lib" src/pipeline.rs src/record.rs
