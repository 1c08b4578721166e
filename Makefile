# Works with GNU make 3.81 and later; needs only python3 (3.11 or newer, with venv).
# .ci/prepare.py builds .venv from the lock files and does nothing when it is up to date.

PYTHON ?= python3
PIP_TOOLS = pip-tools==7.6.2
STACK_TOOLS = podman-compose==1.6.0
SITE_TOOLS = sphinx==9.0.4 myst-parser==5.2.0
BIN = .venv/bin
# What is exported from the shell that made the call must not decide which modules are imported.
unexport PYTHONPATH PYTHONHOME
# Each of the processes that a crawl starts, and every test, would compile all modules again.
unexport PYTHONDONTWRITEBYTECODE
# Handed to the shell by name, so that & and ? in a URL need no second quoting.
export URL
# Never empty for pip, ruff and friends, who would write to / otherwise.
ifeq ($(strip $(HOME)),)
export HOME := $(CURDIR)/.venv
endif

.PHONY: help run test lint format lock docs docs-site screenshots chaos machines stack fuzz bench clean ready-run ready-test

help: ## list the targets (default)
	@awk -F ':.*## ' '/^[a-z][a-z%-]*:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' Makefile

ifneq ($(filter run,$(MAKECMDGOALS)),)
ifeq ($(strip $(URL)),)
$(error no URL given: make run URL=https://example.com/)
endif
endif

run: ready-run ## crawl a site: make run URL=https://example.com/ [ARGS="..."]
	@exec $(BIN)/python .ci/crawl.py "$$URL" $(ARGS)

test: ready-test ## set up and check all: ruff, mypy, layers, pytest [ARGS="-k frontier"]
	@exec $(BIN)/python -m pytest -n auto --maxprocesses 6 --dist loadfile --no-loadscope-reorder --durations=20 --durations-min=5 $(ARGS)

lint: ready-test ## only ruff, mypy and the import contracts
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m mypy
	$(BIN)/lint-imports --no-logo

format: ready-test ## format and fix what ruff can fix
	$(BIN)/python -m ruff check --fix .
	$(BIN)/python -m ruff format .

docs: ready-test ## write docs/cli.md, settings.md, json.md, crawl-file.md and map.md anew from the code
	$(BIN)/python -m benchmarks.documents.reference docs
	$(BIN)/python -m benchmarks.structure.file_map

docs-site: ## build a site of the documents in build/site, links checked; needs PyPI
	$(PYTHON) -m venv build/site-tools
	build/site-tools/bin/python -m pip install --quiet $(SITE_TOOLS)
	build/site-tools/bin/python -m sphinx -b html -E -W --keep-going -q -c .ci/site . build/site

screenshots: ready-test ## crawl small sites and write the console's pictures anew, docs/plots/console-*.png [ARGS="--minutes 30"]
	$(BIN)/python -m benchmarks.documents.screenshots $(ARGS)

chaos: ready-test ## kill -9 in the middle of crawls, with SQLite and MongoDB [ARGS="--store mongo --seed 2", "--images", "--topic", "--away", "--hangs"]
	$(BIN)/python -m tests.chaos --keep $(ARGS)

machines: ready-test ## crawl on three machines in network namespaces: delay, loss, cut cables; needs root [ARGS="--cut 60"]
	$(BIN)/python -m tests.machines --keep $(ARGS)

stack: ready-test ## build, crawl with, kill, upgrade, restore and join the containers, by podman; needs root and PyPI
	$(PYTHON) -m venv build/stack-tools
	build/stack-tools/bin/python -m pip install --quiet $(STACK_TOOLS)
	$(BIN)/python -m tests.stack --keep $(ARGS)

fuzz: ready-test ## clean mutated pages for long [ARGS="--minutes 120 --pages ROWS.jsonl.gz"]
	$(BIN)/python -m tests.fuzz $(ARGS)

bench: ready-test ## list the benchmarks, a line each
	@$(BIN)/python -m benchmarks

bench-%: ready-test ## measure by one of them, as make bench-page (results in benchmarks/results) [ARGS="--help"]
	$(BIN)/python -m benchmarks $* $(ARGS)

lock: ## write both lock files anew, with hashes, from pyproject.toml [ARGS="--upgrade"]
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; v == (3, 11) or sys.exit("make lock: use the oldest supported Python, whose lock serves all (make lock PYTHON=python3.11); this is %d.%d" % v)'
	$(PYTHON) -m venv build/lock
	build/lock/bin/python -m pip install --quiet '$(PIP_TOOLS)'
	build/lock/bin/pip-compile $(LOCK_OPTIONS) --extra crawl --extra mongo --extra console -o requirements.lock pyproject.toml .ci/lock.in $(ARGS)
	build/lock/bin/pip-compile $(LOCK_OPTIONS) --extra crawl --extra mongo --extra console --extra test --extra browser -c requirements.lock -o requirements-test.lock pyproject.toml .ci/lock.in $(ARGS)

LOCK_OPTIONS = --quiet --generate-hashes --strip-extras --allow-unsafe --annotation-style line \
	--no-header --no-emit-options --no-emit-index-url --no-emit-find-links --no-emit-trusted-host

clean: ## remove .venv, builds and caches; crawled data stays
	rm -rf .venv build dist crawlclean.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

ready-run ready-test:
	@command -v '$(PYTHON)' >/dev/null || { echo 'crawlclean: no $(PYTHON) found, install Python 3.11 or newer' >&2; exit 1; }
	@'$(PYTHON)' .ci/prepare.py $(patsubst ready-%,%,$@)
