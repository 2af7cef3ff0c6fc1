#!/bin/sh
# Installs other gateways by their package names and measures them beside phigate, in one run.
#
#   bench/peers-gateways.sh [options of phigate-bench]
#
# GATEWAYS_HOME (default: target/gateways) contains the installed gateways; existing ones are not installed again.
# Needs Python 3.10 or newer with venv, and Node 20 for Portkey. A gateway that cannot be installed or does not start is
# left out; see its log. These gateways scan nothing: the comparison is about the cost of forwarding a request.
set -eu
cd "$(dirname "$0")/.."
home=${GATEWAYS_HOME:-$PWD/target/gateways}
bench=target/release/phigate-bench
mkdir -p "$home"
[ -x "$bench" ] && [ -x target/release/phigate ] || cargo build --release -p phigate -p phigate-bench

started=''
trap 'for pid in $started; do kill "$pid" 2>/dev/null || true; done' EXIT INT TERM

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

# Installs a package of PyPI in a separate environment: NAME PACKAGE
python_package() {
    [ -x "$home/$1/bin/python" ] || python3 -m venv "$home/$1"
    [ -e "$home/$1/installed" ] || "$home/$1/bin/pip" install -q "$2" > "$home/$1.install.log" 2>&1 || return 1
    touch "$home/$1/installed"
}

# Installs a package of npm in a separate folder: NAME PACKAGE
node_package() {
    command -v npm > /dev/null || return 1
    mkdir -p "$home/$1"
    [ -e "$home/$1/node_modules/$2" ] || npm install --silent --prefix "$home/$1" "$2" > "$home/$1.install.log" 2>&1
}

# Waits up to a minute until a gateway answers a request: PORT HEADER…
answers() {
    port=$1
    shift
    python3 - "$port" "$@" << 'PYTHON'
import sys, time, urllib.request
port, headers = sys.argv[1], dict(header.split(": ", 1) for header in sys.argv[2:])
headers |= {"content-type": "application/json", "authorization": "Bearer none"}
body = b'{"model":"gpt-4o","messages":[{"role":"user","content":"Hello"}]}'
for _ in range(120):
    try:
        request = urllib.request.Request(f"http://127.0.0.1:{port}/v1/chat/completions", body, headers)
        with urllib.request.urlopen(request, timeout=10) as answer:
            sys.exit(0 if answer.status == 200 else 1)
    except OSError:
        time.sleep(0.5)
sys.exit(1)
PYTHON
}

# Adds a started gateway to the measured ones: NAME PORT PID [HEADER…]
measure() {
    name=$1 port=$2 pid=$3
    shift 3
    if answers "$port" "$@"; then
        peer="$name,127.0.0.1:$port,$pid"
        for header in "$@"; do peer="$peer,$header"; done
        printf '%s\n' "$peer" >> "$home/peers"
    else
        printf '%s does not answer, see %s\n' "$name" "$home/$name.log" >&2
    fi
}

# Starts a gateway: NAME COMMAND…; sets $pid.
start() {
    name=$1
    shift
    "$@" > "$home/$name.log" 2>&1 &
    pid=$!
    started="$started $pid"
}

: > "$home/peers"
"$bench" mock > "$home/mock.log" &
started="$started $!"
provider=''
while [ -z "$provider" ]; do
    sleep 0.1
    provider=$(sed -n 's|^listening on http://||p' "$home/mock.log")
done

if python_package sglang-router sglang-router; then
    port=$(free_port)
    start sglang-router "$home/sglang-router/bin/python" -m sglang_router.launch_router --host 127.0.0.1 --port "$port" \
        --worker-urls "http://$provider" --policy round_robin --prometheus-port "$(free_port)"
    measure sglang-router "$port" "$pid"
fi

if python_package litellm 'litellm[proxy]'; then
    port=$(free_port)
    cat > "$home/litellm.yaml" << CONFIG
model_list:
  - model_name: gpt-4o
    litellm_params: {model: openai/gpt-4o, api_base: "http://$provider/v1", api_key: none}
CONFIG
    start litellm "$home/litellm/bin/litellm" --config "$home/litellm.yaml" --host 127.0.0.1 --port "$port"
    measure litellm "$port" "$pid"
fi

if node_package portkey @portkey-ai/gateway; then
    port=$(free_port)
    start portkey node "$home/portkey/node_modules/@portkey-ai/gateway/build/start-server.js" --headless "--port=$port"
    measure portkey "$port" "$pid" 'x-portkey-provider: openai' "x-portkey-custom-host: http://$provider/v1"
fi

set -- --provider "$provider" "$@"
while IFS= read -r peer; do set -- "$@" --peer "$peer"; done < "$home/peers"
"$bench" target/release/phigate "$@"
