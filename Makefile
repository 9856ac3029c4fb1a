# Two commands: `make demo` and `make test`. Both set up a virtual environment in .venv first.
# `make lowest` repeats the most telling tests on the oldest libraries that are allowed.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed
DEMO := .venv/.demo

LOWEST := .venv-lowest

.PHONY: setup demo test compiled lowest lint study bench docs site pin clean

$(STAMP): pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@echo "Installing truthing and its tools into .venv (once) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[dev]"
	@touch $(STAMP)

setup: $(STAMP)

# the demo needs no tools of developers
$(DEMO): pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@echo "Installing truthing into .venv (once) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $(DEMO)

demo: $(DEMO)
	@PATH="$(CURDIR)/$(BIN):$$PATH" bash examples/demo.sh

lint: $(STAMP)
	@$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy

# while mypy keeps one core busy, the other compiles what both workers of pytest need
test: $(STAMP)
	@$(MAKE) --no-print-directory -j 2 lint compiled
	@$(BIN)/pytest -n 2 --dist worksteal

compiled: $(STAMP)
	@$(BIN)/python tests/compile_first.py

# compiled code lies beside this environment: older libraries must not spoil what newer ones compiled
lowest:
	@test -x $(LOWEST)/bin/python || $(PYTHON) -m venv $(LOWEST)
	@echo "Installing the oldest libraries allowed into $(LOWEST) ..."
	@$(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check -c .ci/lowest.txt -e ".[app]" \
		pytest pytest-xdist hypothesis pandas pyarrow
	@NUMBA_CACHE_DIR=$(CURDIR)/$(LOWEST)/compiled $(LOWEST)/bin/pytest -n 0 -W ignore::DeprecationWarning \
		"tests/test_twice.py::test_compiled_code_serves_twice[graded]" \
		tests/test_twice.py::test_every_command_starts tests/unit/test_tables.py tests/unit/test_labels.py \
		tests/unit/test_doctor.py tests/unit/test_estimate.py \
		"tests/unit/test_bad_input.py::test_one_line_and_exit_code_1[bad JSON]"

study: $(STAMP)
	@for script in studies/*.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

bench: $(STAMP)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[dev,bench]"
	@for script in benchmarks/*.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

docs: $(STAMP)
	@$(BIN)/python docs/generate.py

site: docs
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet && echo "site/index.html"

# pinned development requirements, with hashes and without addresses
pin: $(STAMP)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	@$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --extra dev --generate-hashes --no-emit-index-url \
		--no-emit-find-links --no-header -o requirements/dev.txt pyproject.toml

clean:
	rm -rf .venv $(LOWEST) build dist site .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src -name '*.nb[ic]' -delete
