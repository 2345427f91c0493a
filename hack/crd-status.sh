#!/usr/bin/env bash
# Puts hack/crd-status.yaml, the schema of status, at the end of each CRD, after the line that says so. With --check
# nothing is written: the exit code tells whether all are up to date.
set -euo pipefail
cd "$(dirname "$0")/.."

mark='            # From here on written by "make generate" from hack/crd-status.yaml.'
status=$(grep -v '^#' hack/crd-status.yaml | sed 's/^/            /')

stale=0
for crd in deploy/crds/*_*.yaml; do
  grep -qxF "$mark" "$crd" || { echo "$crd: lacks the line '${mark#"${mark%%#*}"}'" >&2; exit 1; }
  made=$(sed "/^ *# From here on written by/q" "$crd"; printf '%s\n' "$status")
  if [ "$made" = "$(cat "$crd")" ]; then continue; fi
  if [ "${1:-}" = --check ]; then
    echo "$crd: the schema of status is not that of hack/crd-status.yaml: run make generate" >&2
    stale=1
  else
    printf '%s\n' "$made" >"$crd"
  fi
done
exit "$stale"
