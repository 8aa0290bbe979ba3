# Needs Python 3.11 or newer with pip and venv, and Node.js 20.19 or newer with npm for the page: all the
# rest is locked.

VENV := .venv
BIN := $(VENV)/bin
PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3 python; do \
	$$p -c 'import sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
LOCK := $(BIN)/uv pip compile pyproject.toml --quiet --universal --python-version 3.11 \
	--generate-hashes --no-header --no-emit-index-url --no-annotate --upgrade

PAGE := src/tenuto/api/page/index.html
PAGE_SOURCES := $(shell find web/src web/public -type f 2>/dev/null) $(wildcard web/*.ts web/*.js web/*.json web/*.html)
NPM := npm --prefix web --no-audit --no-fund --no-update-notifier --loglevel error

# All tests together may not take longer than this; on two idle cores they take half of it.
TEST_SECONDS := 840
# Two at once: most of them wait for a server, and tests of one file share theirs.
PYTEST := $(BIN)/pytest --guarantees --session-timeout $(TEST_SECONDS) -n 2 --dist loadfile

# The part of `test-postgres` that everything has: what a client may rely on, on two nodes.
ON_NODES := $(addprefix tests/api/test_guarantees_,cancel.py clients.py queue.py)

.DEFAULT_GOAL := help
.PHONY: help run page page-if-possible page-check page-test page-bench e2e screenshots test test-postgres quick nightly check guarantees crash sim bench lock history mutation format docs models clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: $(VENV)/.runtime page-if-possible ## start the server; options with ARGS="--port 9000"
	@exec $(BIN)/tenuto serve $(ARGS)

page: $(PAGE) ## build the page that the server shows

test: check page-test $(VENV)/.mcp-servers ## everything: checks, all tests, the table of guarantees
	$(PYTEST)
	TENUTO_TEST_NODES=2 $(BIN)/pytest -n 2 --dist loadfile $(ON_NODES)
	@$(MAKE) --no-print-directory e2e

QUICK := core oracle conformance engine agent golden architecture settings
quick: $(VENV)/.dev ## the inner loop: lint, types, and the tests that need no server; under a minute
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/pytest -n 2 $(addprefix tests/,$(QUICK))

test-postgres: $(VENV)/.dev $(PAGE) $(VENV)/.mcp-servers ## the black-box tests on two nodes with one PostgreSQL, and scenes of nodes
	TENUTO_TEST_NODES=2 $(BIN)/pytest -n 2 --dist loadfile tests/api
	$(BIN)/pytest -n 2 --dist loadfile tests/nodes tests/conformance tests/storage/postgres

# A seed of the day, so that what is never found twice is found once; a failure says what it was.
nightly: export TENUTO_TEST_SEED = $(shell date -u +%F)
nightly: $(VENV)/.dev $(PAGE) ## all that takes long: hours, with the day as its seed
	@echo "TENUTO_TEST_SEED=$$TENUTO_TEST_SEED"
	$(BIN)/pytest -n 2 --dist loadfile tests/api/test_cancel_race.py tests/proof/crash tests/proof/sim tests/core tests/conformance tests/hostile tests/strict
	TENUTO_TEST_SCHEMA_SECONDS=240 $(BIN)/pytest tests/api/schema
	$(BIN)/python -m tests.strict 20000
	@$(MAKE) --no-print-directory test-postgres
	@$(MAKE) --no-print-directory crash
	@$(MAKE) --no-print-directory crash ARGS="--store postgres"
	@$(MAKE) --no-print-directory sim SECONDS=1800
	@$(MAKE) --no-print-directory history SECONDS=600
	@$(MAKE) --no-print-directory history SECONDS=600 NODES=3
	@$(MAKE) --no-print-directory mutation
	@$(MAKE) --no-print-directory bench

e2e: $(VENV)/.dev $(PAGE) ## the page in real Chromium, against the real server
	@if browser=$$(scripts/chromium); then CHROMIUM=$$browser $(NPM) run e2e; \
	else echo "SKIPPED: the browser tests, for the reason above." >&2; fi

screenshots: $(VENV)/.runtime $(PAGE) ## pictures of the page's main states, into docs/images
	@CHROMIUM=$$(scripts/chromium) $(NPM) run screenshots

page-bench: $(VENV)/.runtime $(PAGE) ## measure the page in Chromium
	@CHROMIUM=$$(scripts/chromium) $(NPM) run measure

check: $(VENV)/.dev page-check ## lint, format, types, layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

guarantees: $(VENV)/.dev ## only the tests that show a guarantee, and the table
	$(PYTEST) -m 'guarantee or failure'

crash: $(VENV)/.dev ## kill the server at every durable step and check what it promised; ARGS="--store postgres"
	$(BIN)/python -m tests.proof.crash $(ARGS)

sim: $(VENV)/.dev ## the engine in simulated worlds; SECONDS=600 for longer, SEED=123 to replay one
	$(BIN)/python -m tests.proof.sim --seconds $(or $(SECONDS),60) $(if $(SEED),--seed $(SEED)) $(ARGS)

bench: $(VENV)/.dev ## measure
	$(BIN)/python -m bench $(ARGS)

history: $(VENV)/.dev ## clients under a nemesis, written down and checked; SECONDS=600 for longer, NODES=3 for nodes
	$(BIN)/python -m tests.proof.history --seconds $(or $(SECONDS),60) --events 200000 $(if $(NODES),--nodes $(NODES)) $(ARGS)

mutation: $(VENV)/.dev ## break the product on purpose and see which proof notices
	$(BIN)/python -m tests.proof.mutation $(ARGS)

format: $(VENV)/.dev ## let ruff tidy up
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.dev ## write docs/configuration.md from the settings, the page's types from the API
	$(BIN)/python -m scripts.configuration
	$(BIN)/python -m scripts.wire

models: $(VENV)/.dev ## what is known of models, anew from its package; see the change before you commit it
	$(BIN)/python -m scripts.models

lock: $(VENV)/.dev ## resolve the dependencies again
	$(LOCK) --group build --output-file requirements.lock
	$(LOCK) --group build --group dev --constraint requirements.lock --output-file requirements-dev.lock

clean: ## remove the virtual environment, the built page and caches
	rm -rf $(VENV) web/node_modules tests/support/mcp_servers/node_modules src/tenuto/api/page .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "Tenuto needs Python 3.11 or newer with its venv module; set PYTHON=/path/to/python." >&2; exit 1; }
	@echo "Making $(VENV) with $(PYTHON) …"
	@$(PYTHON) -m venv $(VENV)

# The stamps say which lock is installed; the package itself is editable, so code needs no install.
$(VENV)/.runtime: requirements.lock pyproject.toml | $(BIN)/python
	@echo "Installing what Tenuto needs …"
	@$(PIP) install --require-hashes -r requirements.lock
	@$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.dev: requirements-dev.lock pyproject.toml | $(BIN)/python
	@echo "Installing what the tests need …"
	@$(PIP) install --require-hashes -r requirements-dev.lock
	@$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@ $(VENV)/.runtime

# MCP servers that others wrote; without npm their tests are skipped and say so.
$(VENV)/.mcp-servers: tests/support/mcp_servers/package-lock.json | $(BIN)/python
	@echo "Installing MCP servers for the tests …"
	@if command -v npm >/dev/null; then npm --prefix tests/support/mcp_servers --no-audit --no-fund \
		--no-update-notifier --loglevel error ci; fi
	@touch $@

$(PAGE): $(PAGE_SOURCES) web/node_modules/.installed
	@echo "Building the page …"
	@$(NPM) run build --silent -- --logLevel error
	@touch $@

web/node_modules/.installed: web/package-lock.json
	@command -v npm >/dev/null || { echo "The page needs Node.js 20.19 or newer with npm." >&2; exit 1; }
	@echo "Installing what the page needs …"
	@$(NPM) ci
	@touch $@

# The server is useful without its page, so nothing here keeps it from starting.
page-if-possible:
	@if command -v npm >/dev/null; then \
		$(MAKE) --no-print-directory page || echo "The page could not be built; starting without a new one." >&2; \
	elif test ! -f $(PAGE); then \
		echo "There is no page yet: it needs Node.js 20.19 or newer with npm. Starting with the API alone." >&2; \
	fi

page-check: web/node_modules/.installed
	$(NPM) run check

# What an answer may show is judged by a real browser; without one that part is skipped.
page-test: $(PAGE)
	@CHROMIUM=$$(scripts/chromium) $(NPM) test
