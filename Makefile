# Every verb makes its own environment in .venv if there is none. Needs Python 3.11 to 3.15, make and a package registry.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt
GROUP = $$($(PYTHON) tools/groups.py $(1))

.PHONY: demo test test-lowest fuzz check-bounds sbom check corpus-test studio-browser studio-test studio-pictures report-picture bench pins docs clean

demo: $(VENV)/core.stamp
	$(BIN)/handful demo

# Two processes of one thread each: threads of OpenMP that wait for each other take most of the time.
ONE_THREAD = OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1

test: $(VENV)/test.stamp
	HANDFUL_DATA= $(ONE_THREAD) $(BIN)/python -m pytest -n 2 --dist worksteal -m "not corpus and not browser"

corpus-test: $(VENV)/test.stamp
	@test -n "$(HANDFUL_DATA)" || { echo "corpus-test: set HANDFUL_DATA to the folder of corpora"; exit 2; }
	$(ONE_THREAD) $(BIN)/python -m pytest -n 2 -m corpus tests

# Chromium from the system's packages; root installs it, others are told how.
studio-browser:
	@command -v chromium >/dev/null || { test "$$(id -u)" = 0 && { apt-get update && apt-get install -y chromium; } >/dev/null 2>&1; } || \
	  { echo "studio-test: needs Chromium; install it with: apt-get install chromium"; exit 2; }

# Tests that fail are run once more, one after the other: a browser that shares two cores may miss its time limit.
studio-test: studio-browser $(VENV)/browser.stamp
	$(BIN)/python -m pytest -q -n 2 -m browser tests/studio tests/report || \
	  $(BIN)/python -m pytest -q -m browser --last-failed --last-failed-no-failures none tests/studio tests/report

studio-pictures: studio-browser $(VENV)/browser.stamp
	LOGNAME=ann $(BIN)/python tests/studio_pictures.py docs/figures/studio

report-picture: studio-browser $(VENV)/core.stamp
	$(BIN)/python tools/report_picture.py

check: $(VENV)/test.stamp
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

# Changed model files and data files, 50,000 of each kind; FUZZ_FILES=400 is a short run.
FUZZ_FILES ?= 50000
fuzz: $(VENV)/test.stamp
	$(BIN)/python tests/fuzz/run_models.py $(FUZZ_FILES)
	$(BIN)/python tests/fuzz/hostile_files.py 300
	HANDFUL_FUZZ_FILES=$(FUZZ_FILES) $(BIN)/python -m pytest -q -n 2 --timeout 0 tests/data/test_changed_files.py

# The kernels compiled with a check of every index; compiled code is not shared with other runs.
check-bounds: $(VENV)/test.stamp
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=$(CURDIR)/$(VENV)/bounds $(BIN)/python -m pytest -q -n 2 $(BOUNDS_TESTS)
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=$(CURDIR)/$(VENV)/bounds $(BIN)/python tests/fuzz/run_models.py 100
BOUNDS_TESTS ?= tests/kernels tests/linear tests/neighbors tests/parsing tests/tagging tests/representations --ignore tests/kernels/test_cache.py

# The lowest versions that pyproject.toml allows, in an environment of their own, with compiled kernels of their own.
test-lowest:
	$(PYTHON) -m venv .venv-lowest
	.venv-lowest/bin/python -m pip --disable-pip-version-check install --quiet --constraint constraints-lowest.txt \
	  --editable '.[plots,dask,studio]' $(call GROUP,test)
	HANDFUL_DATA= $(ONE_THREAD) NUMBA_CACHE_DIR=$(CURDIR)/.venv-lowest/numba .venv-lowest/bin/python -m pytest -n 2 --dist worksteal -m "not corpus and not browser"

# What is installed, as a list that other tools read (CycloneDX), and whether any of it is known to be unsafe.
sbom: $(VENV)/test.stamp
	$(PIP) pip-audit cyclonedx-bom
	$(BIN)/cyclonedx-py environment $(BIN)/python --output-file sbom.json
	$(BIN)/pip-audit --skip-editable

bench: $(VENV)/bench.stamp
	@for script in benchmarks/[!_]*.py; do echo "== $$script"; $(BIN)/python $$script --quick || exit 1; done

# What commands and algorithms answer: written to the folder PINS if there is none, else compared with it.
pins: $(VENV)/test.stamp
	@test -n "$(PINS)" || { echo "pins: set PINS to a folder outside the repository"; exit 2; }
	$(BIN)/python tools/pins.py $$(test -d "$(PINS)" && echo compare || echo write) "$(PINS)"

docs: $(VENV)/docs.stamp
	rm -rf docs/reference
	$(BIN)/python -m sphinx -q -W --keep-going -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

clean:
	rm -rf $(VENV) .venv-lowest sbom.json build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache handful-demo docs/_build docs/reference
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 15))' || \
	  { echo "handful needs Python 3.11 to 3.15; choose one with: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 2; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/core.stamp: $(BIN)/python pyproject.toml constraints.txt
	$(PIP) --editable .
	@touch $@

$(VENV)/test.stamp: $(BIN)/python pyproject.toml constraints.txt
	$(PIP) --editable '.[plots,dask,studio]' $(call GROUP,test)
	@touch $@ $(VENV)/core.stamp

$(VENV)/browser.stamp: $(VENV)/test.stamp
	$(PIP) --editable . $(call GROUP,browser)
	@touch $@

$(VENV)/docs.stamp: $(BIN)/python pyproject.toml constraints.txt
	$(PIP) --editable . $(call GROUP,docs)
	@touch $@

$(VENV)/bench.stamp: $(VENV)/test.stamp
	$(PIP) --editable . $(call GROUP,bench)
	@touch $@
