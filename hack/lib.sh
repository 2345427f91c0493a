# Shell functions that several scripts of this folder share. To be sourced.
# shellcheck shell=bash

# ansible_python prints the interpreter that ansible-playbook runs with. It may be two words (/usr/bin/env python3).
ansible_python() {
  local first
  first=$(head -n 1 "$(command -v ansible-playbook)") || return 1
  case $first in
    '#!'*) first=${first#'#!'} && echo "${first# }" ;;
    *) return 1 ;;
  esac
}

# as_root runs a command with the rights to install packages.
as_root() {
  if [ "$(id -u)" -eq 0 ]; then "$@"
  elif [ -t 0 ]; then sudo "$@"
  else sudo -n "$@"
  fi
}

# install_packages installs packages of Debian or Ubuntu. It says what it does, and shows apt-get's words only if that fails.
install_packages() {
  local log
  command -v apt-get >/dev/null || return 1
  [ "$(id -u)" -eq 0 ] || command -v sudo >/dev/null || return 1
  log=$(mktemp)
  echo "installing $* (apt-get) ..." >&2
  if as_root env DEBIAN_FRONTEND=noninteractive sh -c \
    'apt-get update -q && apt-get install -q -y --no-install-recommends "$@"' sh "$@" >"$log" 2>&1; then
    rm -f "$log"
    return 0
  fi
  echo "apt-get failed:" >&2
  tail -n 5 "$log" >&2
  rm -f "$log"
  return 1
}
