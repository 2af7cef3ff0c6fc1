#!/usr/bin/env bash
# Checks the programs that the tests need. On Debian as root it installs missing ones; elsewhere it lists them.
set -euo pipefail
cd "$(dirname "$0")/.."

missing=()
need() { # command-or-file, Debian package
  command -v "$1" >/dev/null 2>&1 || [ -e "$1" ] || missing+=("$2")
}
can_install() {
  [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1
}

need cc gcc
need openssl openssl
need python3 python3
need node nodejs
need npm npm
need /usr/bin/chromium chromium
python3 -c 'import venv, ensurepip' 2>/dev/null || missing+=(python3-venv)
postgres=$(ls -d /usr/lib/postgresql/*/bin/initdb 2>/dev/null | tail -n 1 || true)
[ -n "$postgres" ] || command -v initdb >/dev/null 2>&1 || missing+=(postgresql)
# Without these two, the tests of the ARM build are left out (tests/arm.sh).
arm=aarch64-unknown-linux-musl
if can_install; then
  need qemu-aarch64 qemu-user
  if command -v rustup >/dev/null 2>&1 && ! rustup target list --installed | grep -qx "$arm"; then
    timeout 120 rustup --quiet target add "$arm" 2>/dev/null || true
  fi
fi

if [ "${#missing[@]}" -gt 0 ]; then
  if can_install; then
    echo "installing: ${missing[*]}"
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
  else
    echo "make test needs these (Debian package names): ${missing[*]}" >&2
    echo "Install them and run it again. 'make test-rust' needs only Rust, a C compiler and PostgreSQL." >&2
    exit 1
  fi
fi
