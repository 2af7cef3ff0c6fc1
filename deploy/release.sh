#!/bin/sh
# The files of a release, from a binary of this machine: deploy/release.sh [BINARY [FOLDER]]. An archive, the Debian
# package if dpkg-deb is here, the bill of materials and the checksums of all. Nothing is signed: that needs a key that
# no build has. The same binary and SOURCE_DATE_EPOCH give the same bytes.
set -eu
cd "$(dirname "$0")/.."
binary=${1:-target/release/phigate}
out=${2:-target/packages}
version=$("$binary" --version | cut -d' ' -f2)
name=phigate-$version-linux-$(uname -m)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH
umask 022
rm -rf "$out"
mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

folder=$work/$name
mkdir -p "$folder/completions" "$folder/man"
install -m 0755 "$binary" "$folder/phigate"
install -m 0644 CHANGELOG.md LICENSE NOTICE README.md phigate.example.toml deploy/phigate.service "$folder"
for shell in bash fish zsh; do
    "$binary" completions "$shell" >"$folder/completions/phigate.$shell"
done
"$binary" man --to "$folder/man"
tar --create --directory "$work" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" "$name" \
    | gzip -9n >"$out/$name.tar.gz"

if command -v dpkg-deb >/dev/null 2>&1; then
    deploy/deb.sh "$binary" "$out" >/dev/null
fi
python3 tests/supply/sbom.py "$out/phigate-$version.cdx.json" >/dev/null
(cd "$out" && sha256sum -- * >SHA256SUMS)
ls -l "$out"
