# Each target makes the virtual environment it needs; `make clean` removes it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
LIGHT := $(VENV)/.light
READY := $(VENV)/.ready
# Two test processes on two cores: each with one thread, or they would wait for each other.
ONE_THREAD := OMP_NUM_THREADS=1
BENCHMARKS := apply pat adversaries minimizers frontier run collector

.PHONY: demo test test-all lint format bench clean

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

demo: $(LIGHT) ## the whole job on the bundled Adult data; writes demo/report.html
	$(BIN)/leastwise demo

test: $(READY) ## all tests but the slow ones
	$(ONE_THREAD) $(BIN)/python -m pytest -n 2

test-all: $(READY) ## the slow ones too
	$(ONE_THREAD) $(BIN)/python -m pytest -n 2 -m 'slow or not slow'

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(READY) ## speed and memory beside the peers; needs LEASTWISE_DATA for the large data sets
	for name in $(BENCHMARKS); do $(BIN)/python benchmarks/$$name.py || exit 1; done

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache build dist
