#!/usr/bin/env bash
# Runs the default scenario of molecule/. Where molecule is not installed, it runs the scenario's playbooks in
# molecule's order with ansible-playbook.
set -euo pipefail
cd "$(dirname "$0")/.."

if command -v molecule >/dev/null; then
  exec molecule test
fi

# play runs one playbook of the scenario.
play() {
  ansible-playbook --inventory localhost, --connection local \
    --extra-vars 'ansible_python_interpreter={{ansible_playbook_python}}' "molecule/default/$1.yml"
}

play destroy
trap 'play destroy' EXIT
play create
play converge
echo "--- idempotence: nothing may change the second time"
again=$(play converge)
echo "$again"
grep -q ' changed=0 .* failed=0 ' <<<"$again" || { echo "something changed" >&2; exit 1; }
play verify
