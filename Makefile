# Each target makes the virtual environment it needs; `make clean` removes it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
LIGHT := $(VENV)/.light
READY := $(VENV)/.ready
SITE_READY := $(VENV)/.docs
# Two test processes on two cores: each with one thread, or they would wait for each other.
ONE_THREAD := OMP_NUM_THREADS=1
# A source is compiled once, whatever the environment says: the tests start more than a hundred processes.
export PYTHONDONTWRITEBYTECODE :=
BENCHMARKS := apply pat adversaries side_information minimizers frontier run growth studio engine hierarchies accountable collector

.PHONY: demo test test-all test-faults test-fuzz coverage lint format bench docs lowest lock sbom clean

# The package alone is enough for the demo; the tests need the extras and the tools.
$(LIGHT): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet -c constraints.txt -e .
	touch $@

$(READY): $(LIGHT) scripts/install-test-programs.sh
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[dev]'
	scripts/install-test-programs.sh
	touch $@

$(SITE_READY): $(LIGHT)
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[docs]'
	touch $@

demo: $(LIGHT) ## the whole job on the bundled Adult data; writes demo/report.html
	$(BIN)/leastwise demo

test: $(READY) ## all tests but the slow ones
	$(ONE_THREAD) $(BIN)/python -m pytest -n 2 --dist worksteal

test-all: $(READY) ## the slow ones too
	$(ONE_THREAD) $(BIN)/python -m pytest -n 2 --dist worksteal -m 'slow or not slow'

test-faults: $(READY) ## kills, full disks, hanging servers, lost files, power cuts; prints what each cost
	$(ONE_THREAD) $(BIN)/python -m pytest -m 'slow or not slow' tests/collector/test_faults.py \
		tests/collector/test_crashes.py tests/collector/test_power.py tests/cli/test_killed.py

test-fuzz: $(READY) ## 100,000 fuzzed requests to a real collector on this machine, and 20,000 made of its description
	$(ONE_THREAD) $(BIN)/python -m pytest -s -m slow tests/collector/test_fuzz.py

coverage: $(READY) ## the tests of `make test`, measured: a total here, line by line in coverage/index.html
	$(ONE_THREAD) $(BIN)/python -m pytest -n 2 --dist worksteal --cov --cov-report=html --cov-report=term:skip-covered

lowest: ## the tests with the lowest versions that pyproject.toml allows, in an environment of its own
	scripts/test-lowest-versions.sh

lock: $(READY) ## deploy/requirements.txt: what a collector installs, with hashes
	$(BIN)/python scripts/supply_chain.py lock

sbom: $(READY) ## sbom.json: what a collector is made of, with licences (CycloneDX)
	$(BIN)/python scripts/supply_chain.py sbom

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(READY) ## speed and memory beside the peers; needs LEASTWISE_DATA for the large data sets
	for name in $(BENCHMARKS); do $(BIN)/python benchmarks/$$name.py || exit 1; done

docs: $(SITE_READY) ## the site, from the pages, the docstrings and the examples: docs/_build/index.html
	rm -f docs/api/*.rst
	$(ONE_THREAD) $(BIN)/python -m sphinx --fail-on-warning --keep-going --fresh-env docs docs/_build

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache build dist coverage docs/_build docs/gallery docs/jupyter_execute docs/api/*.rst
