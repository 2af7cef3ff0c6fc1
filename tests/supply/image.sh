#!/bin/sh
# Builds the image, starts it as an ordinary user on a read-only root without capabilities, checks its health, and stops
# it: tests/supply/image.sh [BINARY]. Needs root, buildah and runc (Debian has both).
set -eu
cd "$(dirname "$0")/../.."
deploy/image.sh "$@" >/dev/null
name=$(buildah from --pull-never localhost/phigate)
work=$(mktemp -d)
trap 'runc --root "$work/state" delete --force phigate-try 2>/dev/null || true; buildah umount "$name" >/dev/null; buildah rm "$name" >/dev/null; rm -rf "$work"' EXIT
mkdir -p "$work/data" "$work/key" "$work/state"
chown 65532:65532 "$work/data" "$work/key"
chmod 0700 "$work/data" "$work/key"
python3 - "$work" "$(buildah mount "$name")" <<'SPEC'
import json, subprocess, sys
work, root = sys.argv[1:]
image = json.loads(subprocess.run(["buildah", "inspect", "--type", "image", "localhost/phigate"], check=True, stdout=subprocess.PIPE).stdout)
config = image["OCIv1"]["config"]
uid, gid = map(int, config["User"].split(":"))
mount = lambda source, place: {"destination": place, "type": "bind", "source": source, "options": ["bind", "rw"]}
spec = {
    "ociVersion": "1.0.2",
    "process": {
        "user": {"uid": uid, "gid": gid},
        "args": config["Entrypoint"] + config["Cmd"] + ["--behind-tls-proxy", "--listen", "127.0.0.1:18080", "--metrics-listen", "off"],
        "env": config["Env"],
        "cwd": "/",
        "noNewPrivileges": True,
        "capabilities": {},
    },
    "root": {"path": root, "readonly": True},
    "mounts": [
        {"destination": "/proc", "type": "proc", "source": "proc"},
        {"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "mode=755"]},
        mount(f"{work}/data", "/var/lib/phigate"),
        mount(f"{work}/key", "/etc/phigate"),
    ],
    # The network is the host's, so that the health check can connect.
    "linux": {"namespaces": [{"type": kind} for kind in ("pid", "ipc", "uts", "mount")]},
}
json.dump(spec, open(f"{work}/config.json", "w"))
SPEC
runc --root "$work/state" run --bundle "$work" --pid-file "$work/pid" phigate-try >"$work/log" 2>&1 &
for _ in 1 2 3 4 5 6 7 8 9 10; do
    sleep 1
    answer=$(python3 -c 'import urllib.request; print(urllib.request.urlopen("http://127.0.0.1:18080/readyz").status)' 2>/dev/null) && break
done
[ "${answer:-}" = 200 ] || { cat "$work/log"; exit 1; }
pid=$(cat "$work/pid")
grep -E '^(Uid|Gid|CapEff|NoNewPrivs):' "/proc/$pid/status"
grep -E ' / ' "/proc/$pid/mounts" | cut -d' ' -f2,4 | cut -d, -f1
kill -TERM "$pid"
wait
echo "started as an ordinary user on a read-only root, answered, and stopped"
