# Everything a developer and CI run. `make help` lists it.
#
# Long targets call make again with several jobs, so that what does not depend on each other
# overlaps (compilers and image building above all); the targets themselves stay in order.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory --no-builtin-rules

STATE := .state
BIN := $(STATE)/bin
VENV := .venv
PYTHON := $(VENV)/bin/python
STEP := .ci/step
JOBS ?= $(shell nproc)
OVERLAP := $(MAKE) -j$(JOBS) --output-sync=line

PYTHON_SOURCES := operator/src operator/tests operator/calibration operator/reference operator/supply e2e workloads/images workloads/bench workloads/answers \
    .ci/tests docs/site/conf.py

.PHONY: help
help: ## List the targets
	@echo 'make TARGET, where TARGET is one of:'
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## /{printf "  %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# ---- preparation -----------------------------------------------------------------------------

.PHONY: packages
packages:
	@.ci/packages

$(VENV)/.installed: operator/requirements-dev.txt operator/pyproject.toml
	@[ -x $(VENV)/bin/pip ] || python3 -m venv --clear $(VENV)
	@$(STEP) 'Python packages, by hash' \
	    $(VENV)/bin/pip install --quiet --require-hashes -r operator/requirements-dev.txt
	@$(VENV)/bin/pip install --quiet --no-deps --no-build-isolation --editable operator
	@touch $@

.PHONY: dev
dev: packages $(VENV)/.installed ## Prepare a development environment: .venv/bin/dbbench, linters, packages
	@echo "ready: $(VENV)/bin/dbbench --help"

.PHONY: lock
lock: $(VENV)/.installed ## Lock the Python requirements again, with hashes
	@cd operator && for name in requirements requirements-dev requirements-docs requirements-supply; do \
	    ../$(VENV)/bin/uv pip compile -q --generate-hashes --no-header --python-version 3.11 \
	        $$name.in -o $$name.txt; done

# ---- checks ----------------------------------------------------------------------------------

.PHONY: check
check: packages $(VENV)/.installed ## Formatters, linters, types, import contracts, generated files
	@$(STEP) 'make check' $(OVERLAP) --keep-going check-python check-rust check-go check-generated check-shell

.PHONY: check-python
check-python: $(VENV)/.installed
	@$(STEP) 'ruff format' $(VENV)/bin/ruff format --check --quiet $(PYTHON_SOURCES)
	@$(STEP) 'ruff check' $(VENV)/bin/ruff check --quiet $(PYTHON_SOURCES)
	@cd operator && ../$(STEP) 'mypy operator' ../$(VENV)/bin/mypy -p dbbench -p calibration -p reference -p supply
	@cd e2e && ../$(STEP) 'mypy e2e' ../$(VENV)/bin/mypy
	@cd e2e/cluster && ../../$(STEP) 'mypy e2e/cluster' ../../$(VENV)/bin/mypy
	@cd operator && ../$(STEP) 'import contracts' ../$(VENV)/bin/lint-imports --no-logo

.PHONY: check-rust
check-rust:
	@cd workloads && ../$(STEP) 'cargo fmt' cargo fmt --all --check
	@cd workloads && ../$(STEP) 'clippy' cargo clippy --quiet --locked --workspace --all-targets -- -D warnings

.PHONY: check-go
check-go:
	@$(STEP) 'gofmt' bash -c 'test -z "$$(gofmt -l e2e/cluster/go | tee /dev/stderr)"'

.PHONY: check-shell
check-shell:
	@for script in .ci/run .ci/step .ci/packages .ci/generate .ci/drift; do bash -n $$script; done

.PHONY: check-generated
check-generated: $(VENV)/.installed $(BIN)/helm
	@$(STEP) 'generated files' .ci/drift

# ---- generated files -------------------------------------------------------------------------

.PHONY: generate
generate: $(VENV)/.installed $(BIN)/helm ## Write the CRD, its copy in the chart, manifests/install.yaml, reduced experiments, docs/reference
	@.ci/generate .

# ---- documentation ---------------------------------------------------------------------------

# Environments of their own: neither the operator nor a test needs what is in them.
$(STATE)/%-env/.installed: operator/requirements-%.txt
	@[ -x $(STATE)/$*-env/bin/pip ] || python3 -m venv --clear $(STATE)/$*-env
	@$(STEP) 'Python packages for $*, by hash' \
	    $(STATE)/$*-env/bin/pip install --quiet --require-hashes -r $<
	@touch $@

.PHONY: docs
docs: $(STATE)/docs-env/.installed ## Build the site of docs/ into .state/site; a link that leads nowhere fails
	@$(STEP) 'docs' $(STATE)/docs-env/bin/sphinx-build -q -E -a -W --keep-going \
	    -c docs/site -d $(STATE)/cache/docs docs $(STATE)/site
	@echo "open $(STATE)/site/index.html"

# ---- supply chain ----------------------------------------------------------------------------

.PHONY: sbom
sbom: $(VENV)/.installed ## Bills of materials (CycloneDX) of programs and images into .state/sbom
	@cd operator && ../$(STEP) 'bills of materials' ../$(PYTHON) -m supply ../$(STATE)/sbom

.PHONY: audit
audit: $(STATE)/supply-env/.installed ## Known vulnerabilities in what is locked, and what could not be asked; STRICT=1 fails for that, too
	@cd operator && ../$(STATE)/supply-env/bin/python -m supply.audit $(if $(STRICT),--strict)

# ---- programs and images ---------------------------------------------------------------------

# The builders skip what is unchanged by themselves; make need not know their inputs.
$(BIN)/helm:
	@$(STEP) 'Helm' e2e/cluster/build helm

.PHONY: go-binaries monitoring-binaries rust-binary binaries
go-binaries: packages
	@$(STEP) 'Kubernetes, CoreDNS, Helm (Go)' e2e/cluster/build

# For tests of monitoring alone.
monitoring-binaries: packages
	@$(STEP) 'Prometheus operator (Go)' e2e/cluster/build prometheus-operator

rust-binary: packages
	@$(STEP) 'driver and agent (Rust)' workloads/build --quiet

binaries: packages ## Build all programs into .state/bin: Kubernetes, Helm, CoreDNS, the driver
	@$(OVERLAP) go-binaries rust-binary

# Images without programs of this project are built while the compilers run.
.PHONY: package-images images
package-images: packages
	@$(STEP) 'images of packages' workloads/images/build postgres mariadb hyper operator

# What else is to be built beside the compilers of programs that images need.
BESIDE :=

images: packages ## Build all container images into .state/images
	@$(STEP) 'programs and base images' $(OVERLAP) go-binaries rust-binary package-images $(BESIDE)
	@$(STEP) 'images' workloads/images/build

# ---- the local cluster -----------------------------------------------------------------------

.PHONY: cluster-up cluster-down cluster-status
cluster-up: images ## Start the local two-node Kubernetes with the images in it
	@$(STEP) 'cluster up' e2e/cluster/cluster up

cluster-down: ## Stop the local Kubernetes and remove everything of it
	@e2e/cluster/cluster down

cluster-status: ## Show the local Kubernetes
	@e2e/cluster/cluster status

# ---- tests -----------------------------------------------------------------------------------

.PHONY: test
test: packages $(VENV)/.installed ## All tests: unit, property, golden; then CRD and end-to-end tests on a cluster
	@$(MAKE) images BESIDE=monitoring-binaries
	@.ci/tests

.PHONY: test-unit
test-unit: packages $(VENV)/.installed ## Tests that need no cluster (pytest and cargo)
	@.ci/tests unit

.PHONY: test-long
test-long: packages $(VENV)/.installed images ## Guests with other devices or a disk of their own, and several instances side by side: half an hour
	@.ci/tests long

.PHONY: test-e2e
test-e2e: $(VENV)/.installed packages ## CRD tests against the real API server, and end-to-end tests
	@$(MAKE) images BESIDE=monitoring-binaries
	@.ci/tests images cluster

.PHONY: fuzz
fuzz: $(VENV)/.installed ## Generated DBBenchmarks at a real API server: none may crash anything; COUNT=10000 SEED=... choose
	@cd e2e && ../$(PYTHON) -m fuzz $(if $(COUNT),--count $(COUNT)) $(if $(SEED),--seed $(SEED))

.PHONY: scale
scale: packages $(VENV)/.installed go-binaries ## A thousand DBBenchmarks on a real API server with stand-in nodes: figures beside their goals
	@cd e2e && PYTHONPATH=cluster ../$(PYTHON) -m scale $(SCALE_OPTIONS)

.PHONY: soak
soak: $(VENV)/.installed images ## Faults at random instants of runs on the local cluster; SOAK_OPTIONS='--faults 50 --seed 1 --only operator'
	@cd e2e && PYTHONPATH=cluster ../$(PYTHON) -m soak $(SOAK_OPTIONS)

.PHONY: calibrate
calibrate: $(VENV)/.installed ## Calibration of the statistics on simulated runs: the tables of docs/methodology.md
	@cd operator && ../$(PYTHON) -m calibration

.PHONY: conformance
conformance: packages $(VENV)/.installed ## TPC-H's 22 answers on every engine at SF 0.01, 0.1 and 1: half an hour; ONLY='0.1 hyper' chooses
	@cd workloads && cargo bench --quiet --locked --profile dev --package dbbench-driver --bench conformance -- $(ONLY)

# As old as the crate `tpchgen` in workloads/Cargo.lock, so that both write the same files.
TPCHGEN_CLI := .state/tpchgen/bin/tpchgen-cli
$(TPCHGEN_CLI): $(VENV)/.installed
	@$(VENV)/bin/uv pip install --quiet --target .state/tpchgen tpchgen-cli==4.0.0

.PHONY: bench
bench: packages rust-binary $(TPCHGEN_CLI) ## The driver beside pgbench, COPY and tpchgen-cli: ratios, an hour on a machine that does nothing else
	@for name in pgbench 'load --full' generate memory; do set -- $$name; script=$$1; shift; \
	    python3 workloads/bench/$$script.py "$$@"; done

.PHONY: demo
demo: $(if $(KUBECONFIG),,packages) $(VENV)/.installed ## From nothing to a slowdown table on a real Kubernetes
	@cd e2e && ../$(PYTHON) -m demo $(DEMO_OPTIONS)

# ---- cleaning --------------------------------------------------------------------------------

.PHONY: clean
clean: cluster-down ## Stop the cluster and delete everything that was built
	rm -rf $(STATE) $(VENV) workloads/target
