# "make help" lists the targets. Everything that is built goes to bin/, everything else that is kept to .local/.
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

# Where hack/setup.sh puts Ansible on a machine whose own packages will not do; elsewhere it does not exist.
export PATH := $(CURDIR)/.local/venv/bin:$(PATH)

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
COMMIT  ?= $(shell git rev-parse HEAD 2>/dev/null || echo unknown)
LDFLAGS  = -X main.version=$(VERSION) -X main.commit=$(COMMIT)

# Cluster of "make demo": "local" is a throw-away control plane, "current" the current context of the kubeconfig.
CLUSTER ?= local
# How long "make fuzz" spends on each fuzz target.
FUZZTIME ?= 10s
# Image of "make image" and "make deploy".
IMG ?= chartbook:latest

# Roles are run without looking at the machine first, as in deploy/manager. Playbooks say so themselves.
run demo molecule: export ANSIBLE_GATHERING ?= explicit

KUBECTL ?= kubectl
CONTAINER_TOOL ?= $(firstword $(foreach tool,docker podman buildah,$(if $(shell command -v $(tool)),$(tool))))

##@ Start here

.PHONY: help
help: ## Show this help
	@awk 'BEGIN {FS = ":.*## "} \
	  /^##@/ {printf "\n%s\n", substr($$0, 5)} \
	  /^[a-z][a-z-]*:.*## / {printf "  %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: demo
demo: setup build localcluster ## Show Chartbook at work on a throw-away cluster (CLUSTER=current: on yours)
	@go build -o bin/demo ./cmd/demo
	@bin/demo --cluster $(CLUSTER)

.PHONY: test
test: setup build localcluster ## Run all tests, against a real control plane
	@hack/test.sh

##@ Build

.PHONY: setup
setup: ## Install Ansible and the Kubernetes client for Python where they are missing
	@hack/setup.sh

.PHONY: build
build: ## Build bin/chartbook
	@go build -ldflags "$(LDFLAGS)" -o bin/chartbook ./cmd/chartbook

.PHONY: localcluster
localcluster: ## Build bin/localcluster, a Kubernetes control plane in one binary
	@cmd/localcluster/build.sh bin/localcluster

.PHONY: image
image: ## Build the container image IMG
	@test -n "$(CONTAINER_TOOL)" || { echo "image: install docker, podman or buildah first" >&2; exit 1; }
	$(CONTAINER_TOOL) build --build-arg VERSION=$(VERSION) --build-arg COMMIT=$(COMMIT) --tag $(IMG) .

.PHONY: clean
clean: ## Remove what was built
	rm -rf bin dist .local

##@ Develop

.PHONY: run
run: setup build ## Run the operator over watches.yaml on the current context of the kubeconfig
	bin/chartbook run

.PHONY: test-unit
test-unit: ## Run the tests that need no control plane
	go test -short ./...

.PHONY: bench
bench: setup build localcluster ## Measure what runs cost, for each executor (BENCHFLAGS=--quick: one small round)
	@go build -o bin/bench ./cmd/bench
	@bin/bench $(BENCHFLAGS)

.PHONY: fuzz
fuzz: ## Run each fuzz target for FUZZTIME
	@hack/fuzz.sh $(FUZZTIME)

.PHONY: molecule
molecule: setup build localcluster ## Run molecule's default scenario, also where molecule is not installed
	@hack/molecule.sh

.PHONY: fmt
fmt: ## Format the Go code
	gofmt -w $$(git ls-files --cached --others --exclude-standard '*.go')

.PHONY: generate
generate: ## Write again what is generated
	@hack/crd-status.sh

.PHONY: lint
lint: setup bin/golangci-lint ## Check style and content
	@hack/lint.sh

.PHONY: verify
verify: ## Fail if something is unformatted or was not generated again
	@hack/verify.sh

bin/golangci-lint: hack/tools/go.mod hack/tools/go.sum
	@echo "building golangci-lint; the first time this takes two minutes or more ..." >&2
	@cd hack/tools && go build -o ../../$@ github.com/golangci/golangci-lint/v2/cmd/golangci-lint

##@ Cluster (the current context of the kubeconfig)

.PHONY: install
install: ## Install the CRDs of the example
	$(KUBECTL) apply -k deploy/crds

.PHONY: uninstall
uninstall: ## Remove the CRDs of the example, and with them all their resources
	$(KUBECTL) delete --ignore-not-found -k deploy/crds

.PHONY: deploy
deploy: ## Deploy CRDs, rights and the operator from IMG
	$(KUBECTL) kustomize deploy | sed 's|image: controller:latest|image: $(IMG)|' | $(KUBECTL) apply -f -

# How long "make undeploy" lets the operator clean up after its resources.
CLEANUP_TIMEOUT ?= 2m

# The resources go first, while the operator cleans up after them. Then it is stopped and lets go of what is left: what could
# not be cleaned up, and built-in objects, which stay.
.PHONY: undeploy
undeploy: build ## Remove the CRDs with their resources, the operator and its rights
	-$(KUBECTL) delete --ignore-not-found --timeout=$(CLEANUP_TIMEOUT) -k deploy/crds
	-$(KUBECTL) --namespace=chartbook-system scale --replicas=0 deployment/chartbook-manager
	-$(KUBECTL) --namespace=chartbook-system wait --for=delete pod --selector=app.kubernetes.io/component=manager --timeout=$(CLEANUP_TIMEOUT)
	bin/chartbook release-finalizers --all-namespaces --yes
	$(KUBECTL) delete --ignore-not-found -k deploy
