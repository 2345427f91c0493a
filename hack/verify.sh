#!/usr/bin/env bash
# Fails if Go code is not formatted or something generated is not up to date.
set -euo pipefail
cd "$(dirname "$0")/.."

mapfile -t files < <(git ls-files --cached --others --exclude-standard '*.go' | xargs -r ls 2>/dev/null)
unformatted=$(gofmt -l "${files[@]}")
if [ -n "$unformatted" ]; then
  printf 'not formatted, run make fmt:\n%s\n' "$unformatted" >&2
  exit 1
fi
hack/crd-status.sh --check
