#!/bin/sh
# The image of the Dockerfile without any registry: the release binary of this machine, the libraries it names and
# the trusted certificates, without a base image. deploy/image.sh [BINARY]; needs buildah (Debian: apt-get install buildah).
set -eu
cd "$(dirname "$0")/.."
binary=${1:-target/release/phigate}
name=$(buildah from scratch)
trap 'buildah rm "$name" >/dev/null' EXIT
empty=$(mktemp -d)
buildah copy --quiet --chmod 0755 "$name" "$binary" /usr/local/bin/phigate >/dev/null
# Paths of the loader, with links resolved.
for library in $(ldd "$binary" | grep -o '/[^ ]*'); do
    buildah copy --quiet "$name" "$(readlink -f "$library")" "$library" >/dev/null
done
buildah copy --quiet "$name" /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt >/dev/null
for folder in /var/lib/phigate /etc/phigate; do
    buildah copy --quiet --chown 65532:65532 --chmod 0700 "$name" "$empty" "$folder" >/dev/null
done
rmdir "$empty"
buildah config --user 65532:65532 --stop-signal SIGTERM --port 8080 --port 9464 \
    --env PHIGATE_DATA=/var/lib/phigate/data --env PHIGATE_MASTER_KEY_FILE=/etc/phigate/master.key \
    --env PHIGATE_LISTEN=0.0.0.0:8080 --env PHIGATE_METRICS_LISTEN=0.0.0.0:9464 --env PHIGATE_LOG_FORMAT=json \
    --env SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt \
    --entrypoint '["/usr/local/bin/phigate"]' --cmd serve "$name"
buildah commit --quiet "$name" phigate
