# Every target sets up what it needs in .venv, from nothing but Python 3.11 (or later), make and git.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
# Twice as many workers as processors: half of the time, tests wait for processes, answers and clocks.
JOBS ?= $(shell $(PYTHON) -c 'import os; print(2 * (os.cpu_count() or 1))')
DEMO := .demo

.PHONY: help test test-all test-slow test-faults fuzz soak test-pythons test-here check lint types contracts demo docs renew constraints audit bench clean

help:  ## show the targets
	@sed -n 's/^\([a-z-]*\):.*## /make \1 - /p' Makefile

# The versions are those of constraints.txt, so that tomorrow's release of a library breaks nothing today.
PIP = $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
# setuptools, which builds the package in an environment of its own
export PIP_BUILD_CONSTRAINT := $(CURDIR)/constraints.txt

$(VENV)/.user: setup.cfg pyproject.toml constraints.txt
	$(PYTHON) -m venv --clear $(VENV)
	$(PIP) --upgrade pip
	$(PIP) --editable .
	@touch $@

$(VENV)/.ready: $(VENV)/.user
	$(PIP) --editable '.[test]'
	@touch $@

test: check  ## lint, types, import contracts, then all tests that are not slow
	$(BIN)/python -m pytest -n $(JOBS) -m 'not slow' -q

test-all: check  ## the same with the slow tests
	$(BIN)/python -m pytest -n $(JOBS) -q

# All but the soak, most of tests/faults, and what takes a minute for itself: these are for test-all and test-faults.
SLOW := $(filter-out tests/faults,$(patsubst %/,%,$(wildcard tests/[acgipsu]*/))) $(addprefix tests/faults/test_,\
	aftermath.py engine_files.py killed_copies.py store_processes.py system_calls.py)

test-slow: $(VENV)/.ready  ## the slow tests that fit into a quarter of an hour
	$(BIN)/python -m pytest -n $(JOBS) -m slow -q -k 'not random and not soak and not any_name and not of_many' $(SLOW)

FAULTS ?= 1000
FAULTS_SEED ?= $(shell date +%s)

test-faults: $(VENV)/.ready  ## kill FAULTS commands (1000) and 500 runners; FAULTS_SEED repeats what failed
	@echo "FAULTS_SEED=$(FAULTS_SEED)"
	FAULTS=$(FAULTS) FAULTS_SEED=$(FAULTS_SEED) $(BIN)/python -m pytest -n $(JOBS) -q tests/faults

EXECUTIONS ?= 1000000

fuzz: $(VENV)/.ready  ## try EXECUTIONS (1000000) mutated inputs; from Python 3.12 on, guided by the lines they reach
	PYTHONPATH=tests:tests/support:. $(BIN)/python -m fuzz $(EXECUTIONS) --corpus .fuzz

SOAK ?= 7200

soak: $(VENV)/.ready  ## a server, clients and runs with kills for SOAK seconds (7200)
	SOAK=$(SOAK) $(BIN)/python -m pytest -q tests/integration/test_soak.py

test-pythons:  ## on every other Python of this machine, the tests that tell versions apart
	@$(PYTHON) tests/pythons.py | while read -r version path; do \
		echo "== Python $$version ($$path)"; \
		$(MAKE) --no-print-directory PYTHON="$$path" VENV=".venv-$$version" test-here </dev/null || exit 1; \
	done

# What differed between Pythons so far came from their libraries: tarfile, sqlite3 and its warnings, argparse's texts,
# asyncio with processes, json, http.server and signals. These tests use all of that for real: archives, files, the
# store, the server, the bytes that commands print, and runs. What only computes (plans, merges, expressions, checks) is
# left to `make test`.
TELLING := tests/contract/executors/test_ending.py tests/contract/executors/test_running.py \
	tests/contract/runs/test_requests.py tests/contract/runs/test_running.py tests/contract/runs/test_stopping.py \
	tests/contract/test_backend.py tests/contract/test_graphs.py tests/contract/test_plugins.py \
	tests/faults/test_archives.py tests/golden \
	tests/unit/commands/test_execute.py tests/unit/commands/test_plugins_runs.py tests/unit/commands/test_shell.py \
	tests/unit/engine/test_processes.py tests/unit/executors/test_directory.py tests/unit/executors/test_local.py \
	tests/unit/executors/test_plugin_scripts.py tests/unit/executors/test_spool_scripts.py \
	tests/unit/plugins/load/test_paths.py tests/unit/plugins/load/test_refusals.py tests/unit/plugins/test_archive.py \
	tests/unit/plugins/test_build.py tests/unit/plugins/test_build_identity.py \
	tests/unit/plugins/test_build_repositories.py tests/unit/plugins/test_migrate.py \
	tests/unit/server/test_access.py tests/unit/server/test_following.py tests/unit/server/test_local_token.py \
	tests/unit/server/test_nailgun_behaviour.py tests/unit/server/test_same_bytes.py tests/unit/server/test_story.py \
	tests/unit/server/test_wsgi_server.py tests/unit/store tests/unit/test_files.py tests/unit/test_settings.py \
	tests/unit/tui/test_pilot.py

test-here: $(VENV)/.ready
	$(BIN)/python -m pytest -n $(JOBS) -m 'not slow' -q $(TELLING)

check: lint types contracts

lint: $(VENV)/.ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.ready
	$(BIN)/mypy

contracts: $(VENV)/.ready
	$(BIN)/lint-imports --no-cache

demo: $(VENV)/.user  ## the main job on the packaged examples, with every command shown
	@rm -rf $(DEMO) && mkdir -p $(DEMO)
	@PATH="$(CURDIR)/$(BIN):$$PATH" FUEL_ENGINE="$(CURDIR)/$(DEMO)/engine.db" SERVER_ADDRESS= \
		XDG_CONFIG_HOME="$(CURDIR)/$(DEMO)" FUELCLIENT_CUSTOM_SETTINGS= sh docs/demo.sh $(DEMO)

docs: $(VENV)/.ready  ## the pages of docs/ as HTML in build/docs; a warning is an error
	@$(BIN)/python -c 'import myst_parser' 2>/dev/null || \
		$(PIP) --editable '.[docs]'
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs build/docs

renew: $(VENV)/.ready  ## write generated documents, golden files and pictures anew; look at the difference
	$(BIN)/python docs/reference.py
	$(BIN)/python docs/picture.py
	$(BIN)/python -m pytest -n $(JOBS) -q --renew tests/golden tests/unit/plugins/test_check_golden.py \
		tests/snapshots/test_pictures.py

constraints:  ## write constraints.txt anew: the newest libraries that fit every Python of this machine
	$(PYTHON) tests/constraints.py

audit:  ## look for known vulnerabilities of the libraries in constraints.txt
	$(PYTHON) -m venv .venv-audit
	.venv-audit/bin/python -m pip install --quiet --disable-pip-version-check pip-audit
	.venv-audit/bin/pip-audit --requirement constraints.txt --no-deps --disable-pip

bench: $(VENV)/.ready  ## measure, side by side; prints one table
	$(BIN)/python -m benchmarks

clean:  ## remove what the targets made
	rm -rf $(VENV) .venv-* $(DEMO) .fuzz build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
