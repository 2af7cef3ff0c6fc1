#!/bin/sh
# Measures the detector, signatures, the store, and the whole gateway beside a bare proxy and a direct connection.
# Arguments go to phigate-bench: [BINARY…] [--seconds N] [--rounds N] [--only CELL] [--json FILE] [--page FILE].
set -eu
cd "$(dirname "$0")/.."
cargo build --release -p phigate -p phigate-bench
printf '\nDetector\n'
cargo bench -q -p phi-detect
printf '\nSignatures for the clouds\n'
cargo bench -q -p phigate-auth
printf "\nGiving values back\n"
cargo bench -q -p phigate-core
printf "\nStore\n"
cargo run -q --release -p phigate-store --example group_commit
printf '\nAudit page\n'
bench/audit_page.sh
printf '\nGateway\n'
exec target/release/phigate-bench target/release/phigate "$@"
