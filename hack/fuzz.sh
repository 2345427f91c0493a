#!/usr/bin/env bash
# Runs every fuzz target of the main module, one after the other, for the time given (like 10s).
set -euo pipefail
cd "$(dirname "$0")/.."

each=${1:?usage: hack/fuzz.sh TIME}
while IFS=: read -r file target; do
  echo "--- $target in $(dirname "$file"), $each"
  go test -run '^$' -fuzz "^$target\$" -fuzztime "$each" "./$(dirname "$file")"
done < <(grep -rHoE --include='*_test.go' --exclude-dir=localcluster '^func Fuzz[A-Za-z0-9_]+' runner cmd | sed 's/func //' | sort)
