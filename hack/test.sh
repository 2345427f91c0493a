#!/usr/bin/env bash
# Runs all tests: the Go tests of both modules, which run those of the Python code. One control plane serves them all;
# it is taken down at the end, however that comes about. Called by "make test", which builds what is needed.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=hack/lib.sh
. hack/lib.sh

cluster=$(mktemp -d)
trap 'bin/localcluster down --dir "$cluster" >/dev/null 2>&1 || true; rm -rf "$cluster"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

failed=()
# step runs one part of the tests. The others are run also if it fails. Within a part a failed command ends nothing
# (bash takes -e away there): a part with several commands has to count failures itself.
step() {
  local name=$1 begun=$SECONDS
  shift
  echo "--- $name"
  "$@" || failed+=("$name")
  echo "--- $name: $((SECONDS - begun)) s"
}

# go_tests runs the tests of the main module, three packages at a time: much of what they do is waiting. The race detector
# needs a C compiler.
go_tests() {
  local race=()
  if command -v "${CC:-cc}" >/dev/null; then race=(-race); else echo "no C compiler: without the race detector"; fi
  CHARTBOOK_TEST_CLUSTER=$cluster go test "${race[@]}" -p 3 -timeout 40m ./...
}

# localcluster_tests runs the tests of the other module: without the race detector, which would build all of Kubernetes
# anew, without vet, which would analyse all of it, and with the flags of its build.sh, so that nothing is compiled twice.
localcluster_tests() {
  local bin=$PWD/bin/localcluster
  (cd cmd/localcluster && LOCALCLUSTER_BIN=$bin go test -trimpath -vet=off -timeout 15m ./...)
}

bin/localcluster up --dir "$cluster" --wait 3m >/dev/null
step "Go tests" go_tests
step "Tests of localcluster" localcluster_tests
step "Content" hack/check-content.sh

if [ ${#failed[@]} -gt 0 ]; then
  printf 'FAILED: %s\n' "${failed[@]}"
  exit 1
fi
