# StepScope for TensorBoard. `make help` lists the targets.
SHELL := /bin/bash
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PROTOS := $(notdir $(wildcard proto/stepscope/*.proto))

.PHONY: help generate protos panel
help: ## Lists the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/'

generate: protos panel ## Rebuilds the generated messages and the panel

protos: ## Rebuilds tb_plugin/stepscope/pb
	$(BIN)/protoc --proto_path=stepscope/pb=proto/stepscope --python_out=tb_plugin --pyi_out=tb_plugin \
	  $(addprefix stepscope/pb/,$(PROTOS))

panel: ## Rebuilds the panel's bundle
	cd frontend && npm ci --silent --no-audit --no-fund && npm run --silent build
