#!/bin/sh
# Speed of the detector and of the whole gateway beside a bare proxy. Arguments go to phigate-bench.
set -eu
cd "$(dirname "$0")/.."
cargo build --release -p phigate -p phigate-bench
exec target/release/phigate-bench target/release/phigate "$@"
