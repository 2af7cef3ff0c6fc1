# Everything a newcomer and CI need. `make help` lists it.
.PHONY: help run test check bench docs

help: ## list the targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

run: ## build and start the gateway with nothing to configure
	cargo run --release -- serve

test: ## set up and run every test
	cargo nextest run --workspace

check: ## what CI runs: format, lints, tests
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	$(MAKE) test
