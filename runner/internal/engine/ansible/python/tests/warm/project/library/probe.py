#!/usr/bin/python
"""Reports what a module can see of the process that it runs in."""

from __future__ import annotations

import atexit
import io
import json
import locale
import logging
import multiprocessing
import os
import signal
import stat
import sys
import tempfile
import threading
import warnings


def depth(n=0):
    """Returns how deep calls can be nested, in hundreds."""
    try:
        return depth(n + 1)
    except RecursionError:
        return n // 100


def seen():
    """Returns a description of the process."""
    main = sys.modules["__main__"]
    return {
        "umask": os.umask(0o22),
        "cwd": os.getcwd(),
        "environment": sorted(name for name in os.environ if name not in ("_", "SHLVL", "OLDPWD")),
        "pwd": os.environ["PWD"],
        "task": os.environ.get("OF_TASK"),
        "descriptors": sorted(name for name in os.listdir("/proc/self/fd"))[:3],
        "stdin_ends": not sys.stdin.read(),
        "stdout_is_pipe": stat.S_ISFIFO(os.fstat(1).st_mode),
        "encodings": [(stream.encoding, stream.errors, stream.line_buffering)
                      for stream in (sys.stdin, sys.stdout, sys.stderr)],
        "buffers": [isinstance(stream.buffer, io.BufferedIOBase) for stream in (sys.stdout, sys.stderr)],
        "signals": {str(number): str(signal.getsignal(number)).split(" at ")[0] for number in signal.valid_signals()},
        "blocked": len(signal.pthread_sigmask(signal.SIG_BLOCK, ())),
        "locale": [locale.setlocale(category) for category in (locale.LC_CTYPE, locale.LC_COLLATE, locale.LC_TIME)],
        "threads": threading.active_count(),
        "process": [multiprocessing.current_process().name, multiprocessing.parent_process()],
        "handlers": len(logging.root.handlers),
        "level": logging.root.level,
        "depth": depth(),
        "temporary": tempfile.gettempdir(),
        "argv": [os.path.basename(arg) for arg in sys.argv],
        "main": [__name__, main is sys.modules[__name__], os.path.basename(main.__file__), main.__package__],
        "fqn": main._module_fqn,
        "path": [path for path in sys.path if not path.endswith(".zip") and "payload" not in path],
        "executable": sys.executable,
        "filters": [(entry[0], entry[2].__name__) for entry in warnings.filters],
        "hash_seed": sys.flags.hash_randomization,
        "exit_handlers": atexit._ncallbacks() < 8,
    }


SEEN = seen()

from ansible.module_utils.basic import AnsibleModule  # noqa: E402

if __name__ == "__main__":
    module = AnsibleModule({"warn": {"type": "str"}, "secret": {"type": "str", "no_log": True}}, supports_check_mode=True)
    if module.params["warn"]:
        module.warn(module.params["warn"])
        module.deprecate(module.params["warn"] + " is old", version="9.9", collection_name="ansible.builtin")
    module.exit_json(changed=False, seen=json.loads(json.dumps(SEEN)), tmpdir=module.tmpdir, check=module.check_mode)
