#!/usr/bin/env bash
# The language, minimizers, adversaries, models and commands with the lowest versions that pyproject.toml allows, in an
# environment of its own. What old libraries warn of is theirs: here, and only here, a warning is no error.
set -euo pipefail
cd "$(dirname "$0")/.."
environment=${LOWEST_ENVIRONMENT:-.venv/lowest}
python=$environment/bin/python
test -x "$python" || "${PYTHON:-python3}" -m venv "$environment"
"$python" scripts/lowest_versions.py >"$environment/lowest.txt"
"$python" -m pip install --quiet --upgrade pip
"$python" -m pip install --quiet -c "$environment/lowest.txt" -e '.[boosting,collector,experiments,formats]' \
    duckdb pandas pyarrow httpx hypothesis jsonschema pytest pytest-xdist sqlglot
OMP_NUM_THREADS=1 "$python" -m pytest -n 2 -o filterwarnings=default -p no:cacheprovider \
    tests/{schema,partition,generalization,records,apply,exports,models,policy} \
    tests/minimizers/{optimal,pat,test_base.py,test_uniform.py} tests/adversaries/test_{laws,reconstruction}.py \
    tests/cli/test_{apply,describe,minimize}.py
