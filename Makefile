# The commands of quiclab's developers. Every target does its own set-up; `make help` lists them.
#
# Needed: Rust (cargo), Python 3.11 or later with venv, a C compiler; for the lints of JavaScript npm. Everything else is fetched into
# target/ and .venv/.

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

PYTHON ?= python3
# The cargo profile of the Python module: `fast`, or `release`, which takes longer to build and is a little faster (docs/performance.md).
PROFILE ?= fast
# Inputs for each entry point under `make fuzz`.
FUZZ_CASES ?= 200000
# The number of processes for the tests of the package: one more than processors, since those in real time run one after another in one of
# them, which mostly waits.
JOBS ?= $$(( $$(getconf _NPROCESSORS_ONLN) + 1 ))
# The duration of each target under `make libfuzzer`, in seconds.
FUZZ_SECONDS ?= 300
# The duration of `make storm` in minutes, and its first seed.
STORM_MINUTES ?= 60
STORM_FIRST ?= 0

VENV := .venv
BIN := $(VENV)/bin
# In CI, Cargo.lock must be up to date.
LOCKED := $(if $(CI),--locked)
MATURIN := VIRTUAL_ENV=$(CURDIR)/$(VENV) PATH=$(CURDIR)/$(BIN):$$PATH $(BIN)/maturin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
RUST_SOURCES := $(shell find crates -path '*/src/*' -name '*.rs' -not -path 'crates/tidy/*') \
	$(filter-out crates/tidy/%,$(wildcard crates/*/Cargo.toml)) Cargo.toml Cargo.lock

.PHONY: help
help: ## this list
	@awk -F ':.*## ' '/^## / { printf "\n%s\n", substr($$0, 4) } /^[a-z-]+:.*## / { printf "  make %-18s %s\n", $$1, $$2 }' Makefile

## Set-up

$(VENV)/.tools: Makefile
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "quiclab needs Python 3.11 or later: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -m venv $(VENV) \
		|| { echo "Python's venv module is missing: on Debian and Ubuntu, apt-get install python3-venv"; exit 1; }
	$(PIP) install 'maturin>=1.9,<2'
	@touch $@

# Python's packages are installed beside the build of the module.
PACKAGE := $(VENV)/.package-$(PROFILE)
$(PACKAGE): $(VENV)/.tools pyproject.toml $(RUST_SOURCES)
	@rm -f $(VENV)/.package*
	@touch $(VENV)/.building # its time stays: what changes during the build is newer
	@$(call REQUIRED,project["dependencies"]) > $(VENV)/.required.txt
	@$(PIP) install --requirement $(VENV)/.required.txt & packages=$$!; \
	$(MATURIN) develop --skip-install --profile $(PROFILE) $(LOCKED) || { kill $$packages; exit 1; }; \
	wait $$packages
	@PIP_QUIET=1 $(MATURIN) develop --profile $(PROFILE) $(LOCKED)
	@mv $(VENV)/.building $@

# The packages that tests and lints need: the extra `test` of pyproject.toml.
$(VENV)/.checks: $(VENV)/.tools pyproject.toml
	$(call REQUIRED,project["optional-dependencies"]["test"]) > $@.txt
	$(PIP) install --requirement $@.txt
	@mv $@.txt $@

# What the site is made with: the extra `docs`.
$(VENV)/.docs: $(VENV)/.tools pyproject.toml
	$(call REQUIRED,project["optional-dependencies"]["docs"]) > $@.txt
	$(PIP) install --requirement $@.txt
	@mv $@.txt $@

REQUIRED = $(BIN)/python -c 'import tomllib; project = tomllib.load(open("pyproject.toml", "rb"))["project"]; \
	print(*$(1), sep="\n")'

.PHONY: build
build: $(PACKAGE) ## the command .venv/bin/quiclab and the Python package

# What some tests need: a tool, its package in Debian and Ubuntu, and what needs it.
define TOOLS
tshark|tshark|tests that read captures, and the interoperability matrix
chromium|chromium|tests of pages in a browser: view, report, quiclab video play
valgrind|valgrind|make instructions, make exponents, and the test of what reading a scenario costs
ffmpeg|ffmpeg|tests of quiclab video film, and of films that are played
npm|npm|tests of quiclab video play, for which npm fetches dash.js
openssl|openssl|tests of quiclab matrix with certificates
zsh|zsh|tests of completion, and of shells in gates
fish|fish|tests of completion, and of shells in gates
ip|iproute2|tests with real packets at gates
ping|iputils-ping|tests with real packets at gates
endef
export TOOLS

.PHONY: deps
deps: ## install the tools that some tests need (Debian and Ubuntu, as root); NO_INSTALL=1 only lists what is missing
	@missing() { while IFS='|' read -r tool package use; do \
		command -v $$tool >/dev/null || echo "  $$tool (package $$package), for $$use"; \
	done <<< "$$TOOLS"; }; \
	found=$$(missing); test -n "$$found" || exit 0; \
	echo "not installed:"; echo "$$found"; \
	packages=$$(sed 's/.*(package \(.*\)), for .*/\1/' <<< "$$found" | xargs); \
	if [ "$(NO_INSTALL)" = 1 ]; then \
		test -z "$(CI)" || { echo "in CI no test is skipped: NO_INSTALL must not be set"; exit 1; }; \
		echo "NO_INSTALL=1: nothing is installed, and tests that need these tools are skipped"; \
		exit 0; \
	elif ! command -v apt-get >/dev/null; then \
		echo "there is no apt-get here: install them as this system does, or see what is skipped with NO_INSTALL=1"; \
	elif [ "$$(id -u)" != 0 ]; then \
		echo "only root can install them: sudo apt-get install $$packages, or see what is skipped with NO_INSTALL=1"; \
	else \
		echo "installing with apt-get (NO_INSTALL=1 goes without): $$packages"; \
		export DEBIAN_FRONTEND=noninteractive; \
		{ apt-get -qq update && apt-get -qq install -y --no-install-recommends $$packages; } >/dev/null; \
	fi; \
	found=$$(missing); test -n "$$found" || exit 0; \
	echo "WARNING: tests are SKIPPED or fail, for want of" $$(awk '{ print $$1 }' <<< "$$found"); \
	test -z "$(CI)"

.PHONY: clean
clean: ## remove what was built and fetched
	rm -rf target $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find python tests -name __pycache__ -type d -prune -exec rm -rf {} +
	rm -f python/quiclab/*.so

## Everyday

.PHONY: demo
demo: build ## run examples/cellular.toml: a table, a figure, where the results are
	$(BIN)/quiclab run examples/cellular.toml

.PHONY: test
ifeq ($(NO_INSTALL),1)
test: ## all tests; NO_INSTALL=1: without installing system packages, and what was skipped is said at the end
	@mkdir -p target; status=0; \
	$(MAKE) --no-print-directory --keep-going test-rust test-python 2>&1 | tee target/test.log || status=$$?; \
	echo "skipped, with what was missing:"; \
	grep -aoE '(NOT TESTED:|SKIPPED \[).*' target/test.log | sort -u | sed 's/^/  /' || echo "  nothing"; \
	exit $$status
else
test: test-rust test-python
endif

.PHONY: test-rust
test-rust: deps ## the tests of the crates and of the house rules
	cargo test --workspace --features lab/quinn $(LOCKED) --no-fail-fast

.PHONY: test-python
test-python: deps build $(VENV)/.checks $(VENV)/.docs ## the tests of the package, of the command line and of the site
	$(BIN)/python -m pytest --numprocesses $(JOBS) --dist loadgroup

.PHONY: lint
lint: lint-rust lint-python lint-js ## formatting, clippy, rustdoc, ruff, mypy, Biome, tsc, house rules; warnings are errors

.PHONY: lint-rust
lint-rust: ## rustfmt, clippy, rustdoc, house rules, licences
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --features lab/quinn --quiet $(LOCKED) -- -D warnings
	RUSTDOCFLAGS='-D warnings' cargo doc --workspace --no-deps --quiet $(LOCKED)
	cargo run --package tidy --quiet $(LOCKED)
	@if command -v cargo-deny >/dev/null; then cargo deny --log-level error check licenses bans sources; fi

.PHONY: rfc
rfc: ## the requirements of RFC 9000 and others that no line, or no test, cites
	cargo run --package tidy --quiet $(LOCKED) -- rfc

.PHONY: lint-python
lint-python: build $(VENV)/.checks ## ruff, mypy
	$(BIN)/ruff check python tests interop benches docs
	$(BIN)/ruff format --check python tests benches docs interop/runner interop/cases interop/validation interop/ns3
	$(BIN)/mypy
	cd interop && MYPYPATH=../tests ../$(BIN)/mypy --strict --cache-dir ../.mypy_cache -p runner -p cases -p validation

# The tools for JavaScript, from the npm registry: package-lock.json pins them.
JS := target/js
$(JS)/.installed: package.json package-lock.json
	@command -v npm >/dev/null || { echo "the lints of JavaScript need npm; on Debian and Ubuntu, make deps installs it"; exit 1; }
	@mkdir -p $(@D) && cp $^ $(@D)
	npm ci --silent --no-audit --no-fund --prefix $(@D)
	@touch $@

.PHONY: lint-js
lint-js: $(JS)/.installed ## JavaScript: Biome, and its types by tsc --strict
	$(JS)/node_modules/.bin/biome lint --error-on-warnings
	$(JS)/node_modules/.bin/tsc --project .
	$(JS)/node_modules/.bin/tsc --project tests/javascript

.PHONY: format
format: $(VENV)/.checks ## format the sources
	cargo fmt --all
	$(BIN)/ruff format python tests benches docs interop/runner interop/cases interop/validation interop/ns3
	$(BIN)/ruff check --fix python tests interop benches docs

## Speed and memory

.PHONY: bench
bench: ## speed and memory, beside quinn-proto, to target/bench.json
	cargo run --package bench --release $(LOCKED)

# The programs whose instructions are counted. Built with the module and its features (pyproject.toml), so that no crate is compiled twice.
COUNTED = cargo build --package python --package own-controller --package emulated --features python/quinn --profile $(PROFILE) --quiet $(LOCKED)

.PHONY: instructions
instructions: deps ## whether reduced scenarios take the instructions that are committed; RENEW='why they changed' writes them anew
	$(COUNTED)
	$(PYTHON) benches/instruction_check.py --runner $${CARGO_TARGET_DIR:-target}/$(PROFILE)/own-controller \
		$${RENEW:+--renew "$$RENEW"}

.PHONY: exponents
exponents: deps ## whether twice as much of anything costs more than twice as much
	$(COUNTED)
	$(PYTHON) benches/exponents.py --runner $${CARGO_TARGET_DIR:-target}/$(PROFILE)/own-controller

.PHONY: bench-prompt
bench-prompt: build ## what a user waits for at the prompt: the CPU time of whole processes
	cargo build --package bench --release --quiet $(LOCKED)
	$(BIN)/python benches/prompt.py --quinn $${CARGO_TARGET_DIR:-target}/release/bench

.PHONY: bench-memory
bench-memory: build ## the most memory of long downloads with the default tables, by stages of a run
	$(BIN)/python benches/memory.py

.PHONY: bench-own-parts
bench-own-parts: build ## a sweep with a class in Python over its runs one by one, and two jobs over one
	$(BIN)/python benches/own_parts.py $(ARGUMENTS)

.PHONY: bench-view
bench-view: deps build $(VENV)/.checks ## what a drawing of the page of `quiclab view` costs, in Chromium
	$(BIN)/python benches/view.py

## Random inputs, attackers, mutants

.PHONY: fuzz
fuzz: ## decoders, readers and queues under FUZZ_CASES (200000) random inputs for each entry point; runs under a tenth
	PROPTEST_CASES=$(FUZZ_CASES) cargo test --package wire --package view --package http --package network --package pages \
		--package video --profile checked --test fuzz $(LOCKED)
	PROPTEST_CASES=$(FUZZ_CASES) cargo test --package quic --profile checked --lib $(LOCKED) fuzz
	PROPTEST_CASES=$$(($(FUZZ_CASES) / 10)) cargo test --package lab --package script --package live --profile checked --test fuzz $(LOCKED)

.PHONY: miri
miri: ## the unsafe code of the Arrow interface under Miri: reads after a release, releases twice or never (needs: rustup component add miri rust-src --toolchain nightly)
	cargo +nightly miri test --package arrow $(LOCKED)

# The flags that cargo-fuzz passes without a sanitizer; a stable compiler accepts them.
COVERAGE := --cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
	-Cllvm-args=-sanitizer-coverage-trace-compares -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
	-Cllvm-args=-sanitizer-coverage-pc-table -Ccodegen-units=1

# The seed documents of targets, each as target:file; the other targets start without seeds.
FUZZ_SEEDS := $(addprefix scenario:,$(wildcard examples/*.toml python/quiclab/papers/*/*.scenario.toml)) \
	$(addprefix script:,$(wildcard tests/scripts/*/*.quic)) \
	$(addprefix rates:,examples/traces/lte-like.down examples/traces/driving.csv examples/traces/leo.csv) \
	$(addprefix pages:,examples/pages/shop.har examples/pages/article.csv) \
	$(addprefix mpd:,$(wildcard crates/video/tests/mpd/*) crates/video/tests/sizes.csv) \
	known_paths:examples/known-paths.json qlog:crates/view/tests/records.sqlog
# The targets to run; all by default.
FUZZ_TARGETS ?= $(basename $(notdir $(wildcard fuzz/fuzz_targets/*.rs)))

.PHONY: libfuzzer
libfuzzer: ## every target of fuzz/ (or FUZZ_TARGETS) under libFuzzer, FUZZ_SECONDS (300) each; what it learns stays in target/fuzz/corpus
	@host=$$(rustc -vV | sed -n 's/^host: //p'); \
	RUSTFLAGS="$(COVERAGE)" cargo build --manifest-path fuzz/Cargo.toml --release --target $$host --target-dir target/fuzz $(LOCKED); \
	for name in $(FUZZ_TARGETS); do \
		seeds=target/fuzz/seeds/$$name; rm -rf $$seeds; mkdir -p target/fuzz/corpus/$$name $$seeds; echo "$$name:"; \
		for seed in $(FUZZ_SEEDS); do \
			test "$${seed%%:*}" != $$name || cp "$${seed#*:}" $$seeds/$$(echo "$${seed#*:}" | tr / -); \
		done; \
		target/fuzz/$$host/release/$$name target/fuzz/corpus/$$name $$seeds -max_total_time=$(FUZZ_SECONDS) -timeout=20 \
			-artifact_prefix=target/fuzz/$$name- 2>&1 | grep -E 'DONE|^Done|ERROR|panicked|Test unit' || exit 1; \
	done

.PHONY: storm
storm: ## the endpoint, TCP, and HTTP/3, against attackers, new seeds for STORM_MINUTES (60); findings name their seed
	cargo test --package quic --package tcp --package live --profile checked --test storm --no-run $(LOCKED)
	@first=$(STORM_FIRST); end=$$((SECONDS + 60 * $(STORM_MINUTES))); \
	while [ $$SECONDS -lt $$end ]; do \
		QUIC_STORM_FIRST=$$first QUIC_STORM_CASES=1000 \
			cargo test --package quic --package tcp --package live --profile checked --test storm --quiet $(LOCKED) -- --nocapture --test-threads=2 \
			| grep 'seeds' || exit 1; \
		first=$$((first + 1000)); \
	done; \
	echo "no finding in $$((first - $(STORM_FIRST))) seeds of each kind of attack"

.PHONY: script-mutations
script-mutations: ## the endpoint broken on purpose, one thing at a time: which scripts and tests fail, to docs/scripts.md (an hour)
	$(PYTHON) tests/mutations.py --write

.PHONY: storm-coverage
storm-coverage: ## which lines of the endpoint the storm reaches, file by file (needs rustup's component llvm-tools)
	rustup component add llvm-tools
	rm -rf target/coverage/profiles
	RUSTFLAGS='-C instrument-coverage' LLVM_PROFILE_FILE='$(CURDIR)/target/coverage/profiles/%p-%m.profraw' \
		cargo test --package quic --test storm --target-dir target/coverage --quiet $(LOCKED)
	@tools=$$(rustc --print sysroot)/lib/rustlib/*/bin; \
	$$tools/llvm-profdata merge --sparse target/coverage/profiles/*.profraw --output target/coverage/storm.profdata; \
	binary=$$(ls -t target/coverage/debug/deps/storm-* | grep -v '\.d$$' | head -1); \
	$$tools/llvm-cov report $$binary --instr-profile target/coverage/storm.profdata \
		--ignore-filename-regex '/registry/|/rustc/|/tests/|crates/(units|random|trace|congestion|tls|wire)/' --use-color=false \
		| awk 'NR > 1 && NF > 9 { print $$1, $$8 " lines", $$9 " missed", $$10 }' | column -t

## Interoperability

# The build folder of the peers; quiche builds a TLS library of its own, which takes minutes.
PEERS := target/interop
PEERS_BUILT := $(PEERS)/venv/.installed $(PEERS)/bin/quinn $(PEERS)/bin/quic-go $(PEERS)/bin/quiche $(PEERS)/bin/openssl \
	$(PEERS)/kwik/.built $(PEERS)/lsquic/.installed
PEERS_VENV := $(CURDIR)/$(PEERS)/venv
RUST_PEER := cargo build --quiet --release --locked --manifest-path interop/peers/Cargo.toml --target-dir $(PEERS)

$(PEERS)/venv/.installed: interop/peers/aioquic/requirements.txt
	$(PYTHON) -m venv $(PEERS)/venv
	$(PEERS)/venv/bin/python -m pip --disable-pip-version-check --quiet install --requirement $<
	@touch $@

$(PEERS)/bin/quinn: $(wildcard interop/peers/quinn/src/* interop/peers/command-line/src/*) interop/peers/Cargo.lock
	$(RUST_PEER) --package peer-quinn
	@mkdir -p $(@D) && cp $(PEERS)/release/peer-quinn $@

# cmake and libclang come with the Python packages; the headers of the compiler are those of gcc.
$(PEERS)/bin/quiche: $(PEERS)/venv/.installed $(wildcard interop/peers/quiche/src/* interop/peers/command-line/src/*) \
		interop/peers/Cargo.lock
	@echo "building quiche and its TLS library: some minutes"
	PATH=$(PEERS_VENV)/bin:$$PATH \
		LIBCLANG_PATH=$$($(PEERS)/venv/bin/python -c 'import clang.native; print(clang.native.__path__[0])') \
		BINDGEN_EXTRA_CLANG_ARGS=-I$$($(CC) -print-file-name=include) $(RUST_PEER) --package peer-quiche
	@mkdir -p $(@D) && cp $(PEERS)/release/peer-quiche $@

$(PEERS)/bin/openssl: $(wildcard interop/peers/openssl/* interop/peers/openssl/src/* interop/peers/command-line/src/*) \
		interop/peers/Cargo.lock
	@command -v perl >/dev/null || { echo "OpenSSL needs perl, make and a C compiler"; exit 1; }
	@echo "building OpenSSL: some minutes"
	$(RUST_PEER) --package peer-openssl
	@mkdir -p $(@D) && cp $(PEERS)/release/peer-openssl $@

$(PEERS)/bin/quic-go: $(wildcard interop/peers/quic-go/*.go) interop/peers/quic-go/go.sum
	@command -v go >/dev/null || { echo "quic-go needs Go 1.26 or later"; exit 1; }
	@mkdir -p $(@D)
	cd interop/peers/quic-go && go build -buildvcs=false -o ../../../$@ .

$(PEERS)/kwik/.built: interop/peers/kwik/pom.xml interop/peers/kwik/Peer.java
	@command -v mvn javac >/dev/null || { echo "kwik needs Java 17 or later and Maven"; exit 1; }
	rm -rf $(@D)
	mvn --quiet --batch-mode --file $< dependency:copy-dependencies -DoutputDirectory=$(CURDIR)/$(@D)/libraries
	javac -classpath '$(@D)/libraries/*' -d $(@D)/classes interop/peers/kwik/Peer.java
	@touch $@

$(PEERS)/lsquic/.installed: interop/peers/lsquic/package.json interop/peers/lsquic/package-lock.json
	@command -v npm >/dev/null || { echo "lsquic needs npm, which installs bun"; exit 1; }
	@mkdir -p $(@D) && cp $^ $(@D)
	npm ci --silent --no-audit --no-fund --prefix $(@D)
	@touch $@

# ns-3, beside which radio links are validated.
NS3 := target/ns3
WITH_NS3 := NS3_PYTHON=$(CURDIR)/$(NS3)/bin/python

$(NS3)/.installed: interop/ns3/requirements.txt
	$(PYTHON) -m venv $(NS3)
	$(NS3)/bin/python -m pip --disable-pip-version-check --quiet install --requirement $<
	@touch $@

# The runner of the cases: tshark reads the captures, and the package contains the relay.
RUNNER := cd interop && PYTHONDONTWRITEBYTECODE=1 ../$(BIN)/python -m runner

.PHONY: interop
interop: interop-peers build deps ## the interoperability matrix, or ARGUMENTS='--peer quinn --case retry'
	$(RUNNER) $(if $(ARGUMENTS),$(ARGUMENTS),--jobs 3 --write)

.PHONY: interop-quick
interop-quick: $(PEERS)/bin/quinn $(PEERS)/venv/.installed $(NS3)/.installed build deps $(VENV)/.checks ## parts of the matrix and of the validations in minutes
	$(WITH_NS3) $(BIN)/python -m pytest interop

.PHONY: interop-throughput
interop-throughput: interop-peers build ## 1 GB with each peer, in both directions
	$(RUNNER) --throughput

.PHONY: interop-peers
interop-peers: $(PEERS_BUILT) ## the peers of the interoperability matrix, from their registries (needs Go, Java with Maven, npm)

## Clusters and packages

.PHONY: cluster
cluster: build ## sweeps on SLURM and on SSH hosts, in namespaces of this machine: workers and schedulers are killed (Debian, as root)
	rm -rf target/cluster/wheels
	$(MATURIN) build --profile $(PROFILE) --out target/cluster/wheels $(LOCKED)
	cd tests && PYTHONDONTWRITEBYTECODE=1 ../$(BIN)/python -m cluster --wheel ../target/cluster/wheels $(ARGUMENTS)

.PHONY: wheel
wheel: $(VENV)/.tools ## target/packages/dist: a wheel for Linux from glibc 2.27 on, and the source distribution
	$(PIP) install 'maturin[zig]>=1.9,<2'
	rm -rf target/packages/dist
	$(MATURIN) build --release --zig --compatibility manylinux_2_27 --out target/packages/dist $(LOCKED)
	$(MATURIN) sdist --out target/packages/dist

.PHONY: packages
packages: wheel ## install the packages in a bare Debian, on the oldest glibc, with the oldest libraries, and from the sources (Debian, as root)
	cd tests && PYTHONDONTWRITEBYTECODE=1 ../$(BIN)/python -m packages $(ARGUMENTS)

.PHONY: release-notes
release-notes: ## the notes of this version, from the changelog
	@$(PYTHON) docs/release_notes.py $(ARGUMENTS)

## Simulated beside real

.PHONY: validation
validation: build ## the same transfers simulated and in real time, to docs/validation.md: a quarter of an hour on a machine at rest
	cd interop && PYTHONDONTWRITEBYTECODE=1 ../$(BIN)/python -m validation $(if $(ARGUMENTS),$(ARGUMENTS),--write)

.PHONY: validation-radio
validation-radio: $(NS3)/.installed build ## cells and wireless LANs beside closed forms and ns-3, to docs/validation.md: some minutes
	cd interop && PYTHONDONTWRITEBYTECODE=1 $(WITH_NS3) \
		../$(BIN)/python -m validation --only radio $(if $(ARGUMENTS),$(ARGUMENTS),--write)

.PHONY: validation-abr
validation-abr: build ## rate adaptation in whole runs beside an independent reference, to docs/validation.md: seconds
	cd interop && PYTHONDONTWRITEBYTECODE=1 ../$(BIN)/python -m validation --only abr $(if $(ARGUMENTS),$(ARGUMENTS),--write)

.PHONY: validation-kernel
validation-kernel: build ## the kernel's TCP beside ours, through quiclab emulate, to docs/validation.md: half an hour
	cd interop && PYTHONDONTWRITEBYTECODE=1 ../$(BIN)/python -m validation --only kernel $(if $(ARGUMENTS),$(ARGUMENTS),--write)

.PHONY: validation-stacks
validation-stacks: interop-peers build ## other stacks beside ours with their controllers, to docs/validation.md: half an hour
	cd interop && PYTHONDONTWRITEBYTECODE=1 ../$(BIN)/python -m validation --only stacks $(if $(ARGUMENTS),$(ARGUMENTS),--write)

.PHONY: validation-player
validation-player: build deps ## semi-real: dash.js in Chromium beside the simulated player, to docs/validation.md: half an hour
	cd interop && PYTHONDONTWRITEBYTECODE=1 ../$(BIN)/python -m validation --only player $(if $(ARGUMENTS),$(ARGUMENTS),--write)

## Papers and documentation

.PHONY: papers
papers: build ## reproduce all papers (FIGURES="ID ...": only these), to docs/papers.md: over half an hour of two cores
	rm -rf target/papers
	# A row that is not as expected is a result (exit code 1): it is on the page, and a test compares it with differences.toml.
	for name in $(or $(FIGURES),all); do $(BIN)/quiclab reproduce $$name --out target/papers || test $$? -eq 1 || exit 1; done
	$(BIN)/python -m quiclab.reproduce.page target/papers docs

.PHONY: notebooks
notebooks: build $(VENV)/.checks ## run the notebooks of examples/notebooks, and keep what they show
	$(BIN)/python tests/notebooks.py

.PHONY: first-hour
first-hour: ## what a newcomer does in the first hour, played in a clean clone: target/first-hour.md has the times and all output
	$(PYTHON) docs/first_hour.py

.PHONY: docs
docs: build $(VENV)/.docs ## the site, to target/site/index.html: opened from the disk, it needs no network
	$(BIN)/python docs/site/build.py

.PHONY: docs-rust
docs-rust: ## the documentation of the crates, to target/doc/index.html
	cargo doc --workspace --no-deps $(LOCKED)
	@echo '<!doctype html><title>quiclab</title><meta http-equiv="refresh" content="0; url=lab/index.html">' \
		> $${CARGO_TARGET_DIR:-target}/doc/index.html
