#!/usr/bin/env bash
# Makes sure that ansible-playbook, ansible-runner, the collection kubernetes.core and the Kubernetes client for Python are
# there, and a C compiler for Go's race detector. Says nothing and changes nothing where they are. Called by make before
# everything that runs playbooks.
#
# What is missing comes from Debian's or Ubuntu's packages where this user may install them, else (or where those are
# too old) from PyPI into .local/venv, which the Makefile puts first on PATH.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=hack/lib.sh
. hack/lib.sh

minimum_core=2.14 # of ansible-core: the oldest that Chartbook is tested with
packages=(ansible python3-ansible-runner python3-kubernetes)
venv=$PWD/.local/venv
export PATH="$venv/bin:$PATH"

say() { echo "setup: $*" >&2; }

# missing prints what keeps playbooks from running, and nothing if all is well.
missing() {
  local python
  command -v ansible-playbook >/dev/null || { echo "ansible-playbook is not on PATH"; return; }
  command -v ansible-runner >/dev/null || { echo "ansible-runner is not on PATH"; return; }
  python=$(ansible_python) || { echo "ansible-playbook is no Python script"; return; }
  # Unquoted: the line may read "/usr/bin/env python3".
  # shellcheck disable=SC2086
  $python - "$minimum_core" <<'PY' 2>/dev/null || echo "the Python of ansible-playbook does not work: $python"
import importlib.util, os, sys

def number(version):
    return tuple(int(part) for part in version.split(".")[:2])

def problem():
    if importlib.util.find_spec("ansible") is None:
        return "ansible-core is not there"
    from ansible.release import __version__ as core
    if number(core) < number(sys.argv[1]):
        return f"ansible-core {core} is older than {sys.argv[1]}"
    for name in ("kubernetes", "yaml", "jinja2"):
        if importlib.util.find_spec(name) is None:
            return f"the Python package {name} is not there"
    places = os.environ.get("ANSIBLE_COLLECTIONS_PATH", "").split(":") if "ANSIBLE_COLLECTIONS_PATH" in os.environ \
        else [os.path.expanduser("~/.ansible/collections"), "/usr/share/ansible/collections"]
    for place in places + sys.path:
        if os.path.isdir(os.path.join(place, "ansible_collections", "kubernetes", "core")):
            return None
    return "the collection kubernetes.core is not there"

print(problem() or "", end="")
PY
}

# install_venv makes a virtual environment with all that playbooks need.
install_venv() {
  say "installing ansible-core, ansible-runner, kubernetes and kubernetes.core into .local/venv (pip) ..."
  python3 -m venv "$venv" &&
    "$venv/bin/pip" install --quiet --disable-pip-version-check "ansible-core>=$minimum_core" ansible-runner kubernetes &&
    "$venv/bin/ansible-galaxy" collection install kubernetes.core \
      --collections-path "$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')" >/dev/null
}

fail() {
  say "$1"
  say "install ansible-core $minimum_core or newer with ansible-runner, the collection kubernetes.core and the Python package kubernetes," \
    "so that ansible-playbook is on PATH, and try again"
  exit 1
}

if ! command -v "${CC:-cc}" >/dev/null; then
  install_packages gcc libc6-dev || say "no C compiler: tests run without the race detector"
fi

reason=$(missing)
[ -n "$reason" ] || exit 0
say "$reason"
if install_packages "${packages[@]}"; then
  reason=$(missing)
  [ -z "$reason" ] && say "done" && exit 0
  say "$reason, also with the distribution's packages"
fi
install_venv || fail "PyPI could not be used either"
reason=$(missing)
[ -z "$reason" ] || fail "$reason"
say "done"
