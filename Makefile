# One word per habit. `make demo` and `make test` set everything up by themselves, in .venv and node_modules.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export MPLBACKEND := Agg

.PHONY: help demo test check fix bench fuzz clean

help:  ## list the words
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'

$(BIN)/choreograph: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(VENV)/dev: $(BIN)/choreograph
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	@touch $@

node_modules/.done: package.json
	npm install --no-audit --no-fund --silent
	@touch $@

demo: $(BIN)/choreograph  ## write the demo motion and pictures of it into demo/
	$(BIN)/choreograph demo demo --force

test: $(VENV)/dev node_modules/.done  ## run the tests
	$(BIN)/python -m pytest -n 2

check: $(VENV)/dev  ## format, lint, types, layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

fix: $(VENV)/dev  ## format and mend what can be mended
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/dev  ## measure speed, memory and quality
	$(BIN)/python -m benchmarks

fuzz: $(VENV)/dev  ## throw 20,000 broken files at the readers
	CHOREOGRAPH_FUZZ_CASES=20000 $(BIN)/python -m pytest tests/property/test_fuzz.py

clean:  ## remove what make made
	rm -rf $(VENV) node_modules demo build
