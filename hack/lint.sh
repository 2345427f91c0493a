#!/usr/bin/env bash
# Checks style: Go code, playbooks, YAML and shell scripts, and that everything generated is up to date. All checks
# are run, also after one has failed. Called by "make lint", which builds golangci-lint.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=hack/lib.sh
. hack/lib.sh

failed=()
# check runs one linter under a name.
check() {
  local name=$1
  shift
  echo "--- $name"
  "$@" || failed+=("$name")
}

# check_with is check for a linter that comes from a package of the distribution.
check_with() {
  local name=$1
  if ! command -v "$name" >/dev/null && ! install_packages "$name"; then
    if [ "${CI:-}" = true ]; then failed+=("$name (not installed)"); else echo "--- $name: skipped, not installed"; fi
    return 0
  fi
  check "$@"
}

# lint_localcluster leaves out what looks into dependencies, vet included: here these are all of Kubernetes, and take
# longer than everything else together.
lint_localcluster() {
  (cd cmd/localcluster && ../../bin/golangci-lint run --allow-parallel-runners --fast-only --config ../../.golangci.yml ./...)
}

# mypy_of_python checks the types of what comes with the engine for Ansible.
mypy_of_python() {
  local python=runner/internal/engine/ansible/python
  mypy --config-file hack/mypy.ini "$python/warm/start.py" "$python/warm/chartbook_warm" "$python/callback"
}

check "golangci-lint" bin/golangci-lint run --allow-parallel-runners ./...
check "golangci-lint of localcluster" lint_localcluster
check "verify" hack/verify.sh
check_with yamllint yamllint --strict --config-file hack/yamllint.yaml \
  watches.yaml .golangci.yml playbooks deploy hack molecule charts/*/Chart.yaml charts/*/values.yaml
check_with ansible-lint ansible-lint --offline --strict -q --nocolor --config-file hack/ansible-lint.yaml playbooks molecule
check_with mypy mypy_of_python
check_with flake8 flake8 --config hack/flake8.ini runner/internal/engine/ansible/python
check_with shellcheck shellcheck --external-sources hack/*.sh .ci/run cmd/localcluster/build.sh

if [ ${#failed[@]} -gt 0 ]; then
  printf 'FAILED: %s\n' "${failed[@]}"
  exit 1
fi
echo "lint: all is well"
