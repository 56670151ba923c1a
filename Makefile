# make demo    a first look: own environment, local model, one real profile explained
# make check   what must hold before a change is merged: lint, types, import rules, spelling, docs, unit and contract tests
# make prove   a sample of the tests that take long, drawn by the commit (SEED=…); make prove-all: all of them, into docs/proof.md
# make coverage  the tests of check, and some of prove, under coverage; its floors: 90 % of the lines, 85 % of the branches
# make bench   speed and memory, beside hatchet's reader
# make docs    regenerate docs/cli.md, docs/report-schema.json, docs/catalogue.md
# make format  rewrite the sources as `make check` wants them
# make clean   remove what builds and tests leave behind; .venv stays
#
# PYTHON=path/to/python uses an environment that exists already and installs nothing; so does an active one.
# Otherwise .venv (VENV=…) is made with python3 (BASE_PYTHON=…).

BASE_PYTHON ?= python3
VENV ?= .venv
BENCH ?= -m tests.bench
WORKERS ?= 2
# Tests wait for other processes a quarter of their time.
CHECKERS ?= 3
SEED ?=
PIP = $(VENV)/bin/python -m pip --disable-pip-version-check install --quiet

ifndef PYTHON
  ifdef VIRTUAL_ENV
    PYTHON := $(VIRTUAL_ENV)/bin/python
  else
    PYTHON := $(VENV)/bin/python
    ENVIRONMENT := $(VENV)/.installed-dev
  endif
endif
SCRIPTS = $(shell $(PYTHON) -c 'import sysconfig; print(sysconfig.get_path("scripts"))')
TITLE = @printf '\n== %s ==\n'
# Hundreds of tests start chathpc, and would compile all of it each time.
unexport PYTHONDONTWRITEBYTECODE

SECTIONS := check-format check-lint check-types check-imports check-spelling check-docs check-tests

.PHONY: demo check prove prove-all coverage bench docs format clean check-tools $(SECTIONS)
.NOTPARALLEL:

demo: $(VENV)/.installed-demo
	$(TITLE) "Local model (downloaded once)"
	$(VENV)/bin/chathpc models pull || echo "The first look goes on without a model."
	$(TITLE) "chathpc explain examples/omp-triangle/database"
	$(VENV)/bin/chathpc explain examples/omp-triangle/database --llm local,none
	@echo "A model that reads source would add what it suspects, with lines and a change to try: --llm openai:MODEL, or chathpc models list."

# Every section runs, also after one that failed.
check: $(ENVIRONMENT) check-tools
	@$(MAKE) --no-print-directory --keep-going PYTHON='$(PYTHON)' $(SECTIONS) || \
	  { printf '\nCHECK FAILED: see the sections above.\n' >&2; exit 1; }
	@printf '\nAll checks passed.\n'

check-tools:
	$(TITLE) "Environment"
	@$(PYTHON) -c 'import sys; print(sys.executable, sys.version.split()[0])'
	@$(PYTHON) -c 'import build, chathpc, codespell_lib, hypothesis, importlinter, mypy, pytest_cov, xdist' 2>/dev/null || \
	  { echo "This environment lacks tools. Run: $(PYTHON) -m pip install -e '.[dev,formats,local-wheel]'" >&2; exit 1; }

check-format:
	$(TITLE) "Format (ruff)"
	@$(PYTHON) -m ruff format --check .

check-lint:
	$(TITLE) "Lint (ruff)"
	@$(PYTHON) -m ruff check --output-format concise .

# By package name, so that modules behind the links are seen once, under the name they are imported by.
check-types:
	$(TITLE) "Types (mypy --strict)"
	@$(PYTHON) -m mypy --strict -p chathpc
	@$(PYTHON) -m mypy --strict docs/catalogue_page.py docs/gallery.py docs/generate.py tests/coverage_floor.py tests/families.py tests/packaging/contents.py tests/proof.py

check-imports:
	$(TITLE) "Import rules (import-linter)"
	@$(SCRIPTS)/lint-imports --no-logo

check-spelling:
	$(TITLE) "Spelling (codespell)"
	@$(PYTHON) -m codespell_lib && echo "No misspelling found."

check-docs:
	$(TITLE) "Generated documentation"
	@$(PYTHON) docs/generate.py --check

check-tests:
	$(TITLE) "Unit and contract tests (pytest)"
	@$(PYTHON) -m pytest -n $(CHECKERS) --dist loadgroup -m 'not prove' --durations 30 --durations-min 2

prove: $(ENVIRONMENT) check-tools
	$(TITLE) "A sample of the tests that take long (pytest)"
	@$(PYTHON) -m tests.proof --workers $(WORKERS) --seed '$(SEED)'

prove-all: $(ENVIRONMENT) check-tools
	$(TITLE) "All tests that take long (pytest)"
	@$(PYTHON) -m tests.proof --all --workers $(WORKERS) --table docs/proof.md

coverage: $(ENVIRONMENT) check-tools
	$(TITLE) "Tests under coverage (pytest)"
	@$(PYTHON) -m pytest -n $(WORKERS) --dist loadgroup --cover --cov --cov-report=term --cov-report=json
	@$(PYTHON) tests/coverage_floor.py

bench: $(ENVIRONMENT)
	$(PYTHON) $(BENCH)

docs: $(ENVIRONMENT)
	$(PYTHON) docs/generate.py

format: $(ENVIRONMENT)
	$(PYTHON) -m ruff check --fix .
	$(PYTHON) -m ruff format .

clean:
	rm -rf build dist htmlcov bench-results *.egg-info .coverage .coverage.* .hypothesis
	rm -rf .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
	find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +

$(VENV)/bin/python:
	@command -v $(BASE_PYTHON) >/dev/null || \
	  { echo "There is no $(BASE_PYTHON). On Debian: sudo apt-get install python3 python3-venv" >&2; exit 1; }
	@$(BASE_PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "chathpc needs Python 3.11 or newer, and $(BASE_PYTHON) is $$($(BASE_PYTHON) --version)." \
	         "Name another one: make BASE_PYTHON=python3.11" >&2; exit 1; }
	@$(BASE_PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
	  { echo "$(BASE_PYTHON) cannot make virtual environments. On Debian: sudo apt-get install python3-venv" >&2; exit 1; }
	$(BASE_PYTHON) -m venv $(VENV)

$(VENV)/.installed-demo: setup.cfg pyproject.toml | $(VENV)/bin/python
	$(TITLE) "Installing chathpc and a local engine into $(VENV) (about a minute)"
	$(PIP) --editable '.[local-wheel]'
	@touch $@

$(VENV)/.installed-dev: setup.cfg pyproject.toml | $(VENV)/bin/python
	$(TITLE) "Installing chathpc, a local engine and the developers' tools into $(VENV) (about a minute)"
	$(PIP) --editable '.[dev,formats,local-wheel]'
	@touch $@ $(VENV)/.installed-demo
