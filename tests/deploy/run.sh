#!/usr/bin/env bash
# Checks deploy/ and docs/: charts, manifests, alert rules, dashboard, packages, links. Installs under target/deploy.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=target/deploy
mkdir -p "$work"

stamp=$(sha256sum tests/deploy/requirements.txt | cut -d' ' -f1)
if [ "$(cat "$work/stamp" 2>/dev/null || true)" != "$stamp" ]; then
  python3 -m venv --clear "$work/venv"
  "$work/venv/bin/pip" install --quiet --disable-pip-version-check --requirement tests/deploy/requirements.txt
  echo "$stamp" >"$work/stamp"
fi

# Debian's packages would start servers, so they are unpacked and not installed.
unpack() { # program, Debian package
  ! command -v "$1" >/dev/null 2>&1 && [ ! -x "$work/$2/usr/bin/$1" ] || return 0
  if ! command -v apt-get >/dev/null 2>&1; then
    echo "make test needs $1 (Debian package $2)" >&2
    exit 1
  fi
  [ -n "${updated:-}" ] || [ "$(id -u)" != 0 ] || apt-get update -qq
  updated=yes
  (cd "$work" && apt-get download -qq -o APT::Sandbox::User=root "$2" && dpkg-deb -x "$2"_*.deb "$2" && rm "$2"_*.deb)
}
unpack promtool prometheus
unpack caddy caddy

exec "$work/venv/bin/python" -m unittest discover --quiet --start-directory tests/deploy "$@"
