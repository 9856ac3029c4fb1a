# Two commands: `make demo` and `make test`. Both set up a virtual environment in .venv first.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed

.PHONY: setup demo test lint study bench docs site pin clean

$(STAMP): pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@echo "Installing truthing and its tools into .venv (once) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[dev]"
	@touch $(STAMP)

setup: $(STAMP)

demo: $(STAMP)
	@PATH="$(CURDIR)/$(BIN):$$PATH" bash examples/demo.sh

lint: $(STAMP)
	@$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy

test: lint
	@$(BIN)/pytest -n 2 --dist worksteal

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
	rm -rf .venv build dist site .pytest_cache .mypy_cache .ruff_cache .hypothesis
