#!/usr/bin/env bash
# Measures the audit page on a full log: fills a store with COUNT requests (default 1,000,000, two records
# each), starts the server on it and times every filter for a signed-in user, rendering included.
# Usage: bench/audit_page.sh [COUNT] [PROFILE]
set -euo pipefail
cd "$(dirname "$0")/.."
count=${1:-1000000} profile=${2:-release}
folder=$(mktemp -d)
server=
cleanup() { [ -z "$server" ] || kill "$server" 2>/dev/null || true; rm -rf "$folder"; }
trap cleanup EXIT

cargo build -q --profile "$profile" -p phigate --bin phigate --example fill_audit
out=target/$([ "$profile" = dev ] && echo debug || echo "$profile")
"$out/examples/fill_audit" "$folder/data" "$count"
phigate=("$out/phigate" --data "$folder/data" --master-key-file "$folder/data.key")
echo "invented bench password" | "${phigate[@]}" user add bench@clinic.example --password-stdin

"${phigate[@]}" serve --listen 127.0.0.1:0 --metrics-listen off >"$folder/out" 2>"$folder/log" &
server=$!
for _ in $(seq 100); do grep -q listening "$folder/out" && break; sleep 0.1; done
url=$(sed -n 's/^listening on //p' "$folder/out")

jar=$folder/jar
csrf=$(curl -s -c "$jar" "$url/login" | sed -n 's/.*name="csrf" value="\([^"]*\)".*/\1/p' | head -n 1)
curl -s -o /dev/null -b "$jar" -c "$jar" "$url/login" --data-urlencode "csrf=$csrf" \
  --data-urlencode "email=bench@clinic.example" --data-urlencode "password=invented bench password"

"${phigate[@]}" key list >"$folder/keys"
key=$(awk 'NR == 2 { print $1 }' "$folder/keys")
oldest=$(curl -s -b "$jar" "$url/audit?until=$(date -u -d '-89 days' +%Y-%m-%dT%H:%M)" | grep -o '/audit/[0-9a-f-]\{36\}' | head -n 1 | cut -d/ -f3)
# Prints the time of a page: measure NAME CURL-ARGUMENT...
measure() {
  local name=$1
  shift
  for _ in $(seq 9); do
    curl -s -o "$folder/page" -b "$jar" -w '%{time_total} %{http_code}\n' "$@"
  done | sort -n | awk -v name="$name" '
    { if ($2 != 200) failed = $2; time[NR] = $1 * 1000 }
    END { printf "%-52s %9.1f %9.1f%s\n", substr(name, 1, 52), time[int((NR + 1) / 2)], time[NR], failed ? " status " failed : ""; exit failed ? 1 : 0 }'
}

printf '\n%-52s %9s %9s\n' "page, $count requests" "median ms" "worst ms"
for path in \
  "/" "/?period=month" "/audit" "/audit?record=phi" "/audit?record=clean" "/audit/administration" \
  "/audit?range=day" "/audit?type=ssn" "/audit?type=medicare_id&mode=block" "/audit?action=blocked" \
  "/audit?action=refused&range=month" "/audit?mode=flag" "/audit?key=$key" "/audit?model=gemini-2.5-pro" \
  "/audit?model=unheard-of" "/audit?type=ssn&action=forwarded&model=gpt-4o&key=$key" \
  "/audit?error=provider_timeout" "/audit?status=5xx" "/audit?status=2xx" "/audit?error=interrupted" \
  "/audit?door=embeddings" "/audit?provider=google" \
  "/audit?until=$(date -u -d '-80 days' +%Y-%m-%dT%H:%M)" "/audit?request=$oldest" "/audit/$oldest"; do
  measure "$path" "$url$path"
done
csrf=$(curl -s -b "$jar" "$url/audit/find" | sed -n 's/.*name="csrf" value="\([^"]*\)".*/\1/p' | head -n 1)
measure "/audit/find" "$url/audit/find" --data-urlencode "csrf=$csrf" --data type=mrn --data value=123456
