#!/bin/sh
# The Debian package of a binary of this machine: deploy/deb.sh [BINARY [FOLDER]]. Prints the path of the package.
# Needs dpkg-deb, and Debian's gzip. The same binary and SOURCE_DATE_EPOCH give the same bytes.
set -eu
cd "$(dirname "$0")/.."
binary=${1:-target/release/phigate}
out=${2:-target/packages}
version=$("$binary" --version | cut -d' ' -f2)
architecture=$(dpkg --print-architecture)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH
umask 022
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
chmod 0755 "$root"

install -D -m 0755 "$binary" "$root/usr/bin/phigate"

# The unit of the sources, with the package's paths and user. The settings file names the store and the key, so that
# an owner can change both in one place, and commands find them too.
install -d "$root/usr/lib/systemd/system"
sed -e '/^#/d' -e '/^Environment=PHIGATE_/d' -e 's|/usr/local/bin/|/usr/bin/|' \
    -e 's|^DynamicUser=yes|User=phigate\nGroup=phigate|' deploy/phigate.service \
    | sed '/./,$!d' >"$root/usr/lib/systemd/system/phigate.service"

install -d "$root/etc/phigate"
sed -e 's|^data = .*|data = "/var/lib/phigate/data"|' \
    -e 's|^#master_key_file = .*|master_key_file = "/var/lib/phigate-key/master.key"|' \
    phigate.example.toml >"$root/etc/phigate/phigate.toml"
chmod 0644 "$root/etc/phigate/phigate.toml"

install -d "$root/usr/share/bash-completion/completions" "$root/usr/share/zsh/vendor-completions" \
    "$root/usr/share/fish/vendor_completions.d" "$root/usr/share/man/man1" "$root/usr/share/doc/phigate"
"$binary" completions bash >"$root/usr/share/bash-completion/completions/phigate"
"$binary" completions zsh >"$root/usr/share/zsh/vendor-completions/_phigate"
"$binary" completions fish >"$root/usr/share/fish/vendor_completions.d/phigate.fish"
"$binary" man --to "$root/usr/share/man/man1"
gzip -9n "$root"/usr/share/man/man1/*
gzip -9nc CHANGELOG.md >"$root/usr/share/doc/phigate/changelog.gz"
install -m 0644 NOTICE "$root/usr/share/doc/phigate/NOTICE"
install -m 0644 LICENSE "$root/usr/share/doc/phigate/copyright"

install -d "$root/DEBIAN"
for script in config postinst postrm prerm; do
    install -m 0755 "deploy/debian/$script" "$root/DEBIAN/$script"
done
install -m 0644 deploy/debian/templates "$root/DEBIAN/templates"
echo /etc/phigate/phigate.toml >"$root/DEBIAN/conffiles"
# A binary runs with the C library of the system that built it, and with later ones.
libc=$(getconf GNU_LIBC_VERSION | cut -d' ' -f2)
sed -e "s/@VERSION@/$version/" -e "s/@LIBC@/$libc/" -e "s/@ARCHITECTURE@/$architecture/" \
    -e "s/@SIZE@/$(du -sk --apparent-size "$root/usr" | cut -f1)/" deploy/debian/control >"$root/DEBIAN/control"
(cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
find "$root" -exec touch --no-dereference --date "@$SOURCE_DATE_EPOCH" {} +

mkdir -p "$out"
dpkg-deb --root-owner-group --build "$root" "$out/phigate_${version}_${architecture}.deb" >/dev/null
echo "$out/phigate_${version}_${architecture}.deb"
