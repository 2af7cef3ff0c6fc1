# Targets for contributors and CI. `make` lists them.
.DEFAULT_GOAL := help
.PHONY: help run demo test test-setup test-rust test-python test-clients test-clients-all test-browser test-deploy test-arm check lint deny recipes instructions docs wheel bench profile overload soak torture failover miri arm fuzz sbom reproduce image deb release site coverage mutants

# cargo-nextest runs tests in parallel processes; plain cargo test serves as well.
RUN_TESTS := $(shell command -v cargo-nextest >/dev/null 2>&1 && echo "cargo nextest run --no-fail-fast" || echo "cargo test")

# The workspace has more than one program.
PHIGATE := cargo run --package phigate --bin phigate

# With the features of the whole workspace, to reuse the build of the tests.
BUILD := cargo build --workspace --bin phigate

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

run: ## build and start the gateway with nothing to configure
	@echo "Building phigate (a few minutes the first time) ..."
	$(PHIGATE) --profile first -- serve

demo: ## start it with simulated providers and a ready API key
	@echo "Building phigate (a few minutes the first time) ..."
	$(PHIGATE) --profile first -- demo

test: test-setup test-rust test-python test-clients test-browser test-deploy test-arm ## set up and run every test

test-setup:
	tests/setup.sh

test-rust: ## tests of all crates, with a real SQLite and PostgreSQL
	$(RUN_TESTS) --workspace
	cargo test --quiet --doc --workspace # nextest leaves these out
	$(BUILD)
	target/debug/phigate --version

test-python: ## build the Python package as a wheel, install it in a fresh environment and test it
	tests/python/run.sh

test-clients: ## run official SDKs and frameworks and the blocks of docs/clients.md against a real server
	$(BUILD)
	tests/clients/run.sh

test-clients-all: ## run every client of docs/clients.md, also Claude Code, Codex, LlamaIndex and LiteLLM
	$(BUILD)
	tests/clients/all.sh

test-browser: ## the dashboard in a real Chromium
	$(BUILD)
	tests/browser/run.sh

test-deploy: ## check charts, manifests, alert rules, dashboard, packages and links
	$(BUILD)
	tests/deploy/run.sh

test-arm:
	tests/arm.sh --if-possible

check: lint deny test ## run the checks of CI

lint: ## format and lints, warnings as errors
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings

recipes: ## follow every recipe of CONTRIBUTING.md in a copy of the sources, compile and test it
	cargo test -p phigate --test all recipes:: -- --ignored

deny: ## check licences, duplicate versions, sources and crate walls against deny.toml
	@if command -v cargo-deny >/dev/null 2>&1; then cargo deny check; \
	else python3 -m unittest discover -q -s tests/supply && python3 tests/supply/check.py; fi

sbom: ## list the contents of the binary as CycloneDX in target/phigate.cdx.json
	python3 tests/supply/sbom.py

reproduce: ## build the release binary twice and compare the two byte for byte
	tests/supply/reproduce.sh

image: ## build the container image from target/release/phigate, run it without privileges, check its health
	tests/supply/image.sh

site: ## build the docs site with mdBook in target/site/book, and check its links
	docs/site.py

deb: ## build the Debian package of the release binary, in target/packages
	cargo build --release --locked -p phigate
	deploy/deb.sh

release: ## build the files of a release: archive, Debian package, bill of materials, checksums
	cargo build --release --locked -p phigate
	deploy/release.sh

instructions: ## count the instructions of scans with Valgrind
	cargo test -p phi-detect --test instructions -- --nocapture

docs: ## write docs/phi-types.md, docs/parameters.md, docs/errors.md and docs/clients.md from the tables, and deploy/kubernetes from the chart
	UPDATE_DOCS=1 cargo test -q -p phigate-types --test docs
	UPDATE_DOCS=1 cargo test -q -p phi-detect --test all docs::
	UPDATE_DOCS=1 cargo test -q -p phigate-core --test all wire_tables::
	UPDATE_DOCS=1 cargo test -q -p phigate-dashboard --lib clients::tests
	UPDATE_DOCS=1 tests/deploy/run.sh -k manifests_are_current

wheel: ## the Python package phi-detect as a wheel, in target/wheels
	tests/python/wheel.sh

bench: ## measure the detector, the store and the whole gateway beside a bare proxy
	bench/run.sh

profile: ## record the profile of release builds from a running gateway
	profile/record.sh

overload: ## measure throughput, latency and memory under overload and beside crowds
	cargo build --release -p phigate -p phigate-bench
	target/release/phigate-bench overload

soak: ## run MINUTES (60) at 70 % load, then compare the provider's count with the records
	cargo build --release -p phigate -p phigate-bench
	target/release/phigate-bench soak --minutes $(or $(MINUTES),60)

torture: ## kill -9 KILLS times at random moments on both engines, then try every fault of the store
	tests/torture/run.sh

failover: ## lose the primary of PostgreSQL FAILOVERS (20) times under load, killed or frozen, and count the records
	PHIGATE_FAILOVERS=$(or $(FAILOVERS),20) cargo test -q --workspace --test all -- --nocapture failovers_with_a_standby_lose_nothing

miri: ## test the unsafe code under Miri, AddressSanitizer and Valgrind, if installed
	tests/memory.sh

arm: ## test the detector built for 64-bit ARM by emulation
	tests/arm.sh

fuzz: ## fuzz each target, or TARGETS, for EACH (60) seconds
	fuzz/run.sh $(or $(EACH),60) $(TARGETS)

coverage: ## report what each predicate, branch and pass of the detector decides, over our own texts and those in TEXTS
	tests/coverage/run.py --texts $(TEXTS)

mutants: ## mutate the code behind the promises and check that a test fails; PARTS selects parts
	tests/mutants/run.py $(PARTS)
