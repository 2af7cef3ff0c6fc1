# Everything a newcomer and CI need. `make` lists it.
.DEFAULT_GOAL := help
.PHONY: help run demo test test-setup test-rust test-python test-clients test-clients-all test-browser test-arm check lint deny recipes instructions docs wheel bench profile overload soak torture miri arm fuzz sbom reproduce image mutants

# cargo-nextest runs tests in parallel processes; plain cargo test serves as well.
RUN_TESTS := $(shell command -v cargo-nextest >/dev/null 2>&1 && echo "cargo nextest run --no-fail-fast" || echo "cargo test")

# The workspace has more than one program.
PHIGATE := cargo run --package phigate --bin phigate

# With the features of the whole workspace, as the tests build it: nothing is built a second time.
BUILD := cargo build --workspace --bin phigate

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

run: ## build and start the gateway with nothing to configure
	@echo "Building phigate (a few minutes the first time) ..."
	$(PHIGATE) --profile first -- serve

demo: ## start it with simulated providers and a ready API key
	@echo "Building phigate (a few minutes the first time) ..."
	$(PHIGATE) --profile first -- demo

test: test-setup test-rust test-python test-clients test-browser test-arm ## set up and run every test

test-setup:
	tests/setup.sh

test-rust: ## tests of all crates, with a real SQLite and PostgreSQL
	$(RUN_TESTS) --workspace
	cargo test --quiet --doc --workspace # nextest leaves these out
	$(BUILD)
	target/debug/phigate --version

test-python: ## the Python package: built as a wheel, installed and tested in an environment of its own
	tests/python/run.sh

test-clients: ## official SDKs and frameworks against a real server, and docs/clients.md as it stands
	$(BUILD)
	tests/clients/run.sh

test-clients-all: ## every client of docs/clients.md: Claude Code, Codex, LlamaIndex and LiteLLM too
	$(BUILD)
	tests/clients/all.sh

test-browser: ## the dashboard in a real Chromium
	$(BUILD)
	tests/browser/run.sh

test-arm:
	tests/arm.sh --if-possible

check: lint deny test ## what CI runs

lint: ## format and lints, warnings as errors
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings

recipes: ## follow every recipe of CONTRIBUTING.md in a copy of the sources, compile and test it
	cargo test -p phigate --test all recipes:: -- --ignored

deny: ## licences, duplicate versions, sources and who may depend on whom, as deny.toml says
	@if command -v cargo-deny >/dev/null 2>&1; then cargo deny check; \
	else python3 -m unittest discover -q -s tests/supply && python3 tests/supply/check.py; fi

sbom: ## what is inside the binary, as CycloneDX, in target/phigate.cdx.json
	python3 tests/supply/sbom.py

reproduce: ## build the release binary twice and compare the two byte for byte
	tests/supply/reproduce.sh

image: ## the container image from target/release/phigate: built, started without rights on a read-only root, asked, stopped
	tests/supply/image.sh

instructions: ## what a scan costs, counted by Valgrind
	cargo test -p phi-detect --test instructions -- --nocapture

docs: ## write docs/phi-types.md, docs/parameters.md, docs/errors.md and docs/clients.md from the tables
	UPDATE_DOCS=1 cargo test -q -p phigate-types --test docs
	UPDATE_DOCS=1 cargo test -q -p phi-detect --test all docs::
	UPDATE_DOCS=1 cargo test -q -p phigate-core --test all wire_tables::
	UPDATE_DOCS=1 cargo test -q -p phigate-dashboard --lib clients::tests

wheel: ## the Python package phi-detect as a wheel, in target/wheels
	tests/python/wheel.sh

bench: ## speed of the detector, the store and the whole gateway beside a bare proxy
	bench/run.sh

profile: ## record what a running gateway calls and where it branches; release builds follow it
	profile/record.sh

overload: ## more than the gateway can do, and crowds of other kinds: who is served, how fast, with how much memory
	cargo build --release -p phigate -p phigate-bench
	target/release/phigate-bench overload

soak: ## MINUTES (60) at 70 % load: memory, files and latency, then the provider's count against the records
	cargo build --release -p phigate -p phigate-bench
	target/release/phigate-bench soak --minutes $(or $(MINUTES),60)

torture: ## kill -9 at random moments, KILLS times, on both engines, and every fault of the store
	tests/torture/run.sh

miri: ## the module with unsafe code under Miri, AddressSanitizer and Valgrind, whichever are here
	tests/memory.sh

arm: ## the detector as built for 64-bit ARM, by emulation: its own kernels, and the same findings as here
	tests/arm.sh

fuzz: ## random inputs guided by coverage: EACH (60) seconds for each target, or for TARGETS
	fuzz/run.sh $(or $(EACH),60) $(TARGETS)

mutants: ## change the code that guards the promises, one place at a time, and see whether a test notices; PARTS names some of them
	tests/mutants/run.py $(PARTS)
