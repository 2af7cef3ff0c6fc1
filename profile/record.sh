#!/bin/sh
# Records the profile of release builds (profile/rustc): builds an instrumented gateway, sends it the requests of the bench,
# scans the texts and sources of this repository, and writes profile/phigate.profdata.
# Needs llvm-profdata 19 or later: `rustup component add llvm-tools`, or Debian's package llvm-19.
set -eu
cd "$(dirname "$0")/.."
for merge in "${LLVM_PROFDATA:-}" "$(rustc --print sysroot)"/lib/rustlib/*/bin/llvm-profdata llvm-profdata-19 llvm-profdata; do
    merge=$(command -v "$merge" 2>/dev/null) && break
done
[ -n "$merge" ] || {
    echo "llvm-profdata is missing: rustup component add llvm-tools, or apt-get install llvm-19" >&2
    exit 1
}
counts="$(pwd)/target/record/counts"
rm -rf "$counts"
mkdir -p "$counts/texts"
export LLVM_PROFILE_FILE="$counts/%m.profraw"

PHIGATE_PROFILE=none cargo build --release --target-dir target/record/bench -p phigate-bench
PHIGATE_PROFILE=record cargo build --release --target-dir target/record -p phigate
target/record/bench/release/phigate-bench target/record/release/phigate --seconds 1 --rounds 1

# Texts of many kinds and languages, without their PHI marks; and programs, pages, tables.
git ls-files model/written model/templates | while read -r file; do
    sed 's/\[\[[A-Z_]*:\([^]]*\)\]\]/\1/g' "$file" >"$counts/texts/$(echo "$file" | tr / _)"
done
git ls-files '*.md' '*.rs' '*.py' '*.sql' '*.html' '*.css' '*.toml' '*.sh' | xargs cp --parents -t "$counts/texts"
find "$counts/texts" -type f -size -256k -print0 | xargs -0 -n 50 target/record/release/phigate scan >/dev/null

"$merge" merge --sparse -o profile/phigate.profdata "$counts"/*.profraw
ls -l profile/phigate.profdata
echo "Cargo does not see that it has changed: remove target/release before the next release build."
