#!/bin/sh
# Builds the release binary twice, in two folders of different names, and compares the two byte for byte.
# JOBS limits the compilers; PROFILE=quick builds faster and proves less.
set -eu
cd "$(dirname "$0")/../.."
top=$(pwd)
commit=$(git rev-parse HEAD)
export SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
profile=${PROFILE:-release}
home=${CARGO_HOME:-$HOME/.cargo}
for name in one another-place; do
    folder="$top/target/reproduce/$name"
    rm -rf "$folder"
    mkdir -p "$folder"
    git archive "$commit" | tar -x -C "$folder"
    # The binary must not contain paths of this machine.
    flags="--remap-path-prefix=$folder=/phigate --remap-path-prefix=$home=/cargo"
    (cd "$folder" && RUSTFLAGS="$flags" CFLAGS="-ffile-prefix-map=$folder=/phigate -ffile-prefix-map=$home=/cargo" \
        CXXFLAGS="-ffile-prefix-map=$folder=/phigate -ffile-prefix-map=$home=/cargo" \
        cargo build --locked --quiet --profile "$profile" -p phigate ${JOBS:+-j "$JOBS"})
    sha256sum "$folder/target/$profile/phigate"
done
cmp "$top/target/reproduce/one/target/$profile/phigate" "$top/target/reproduce/another-place/target/$profile/phigate"
echo "the two are the same, byte for byte ($commit)"
