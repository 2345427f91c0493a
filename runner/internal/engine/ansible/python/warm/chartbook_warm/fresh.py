"""Makes a fork look, from inside, like a Python that has just been started.

It looks at as little as it can: each object of the parent that is touched, if only to count a reference, costs a copy
of the page that it lies on.
"""

from __future__ import annotations

import atexit
import codecs
import gc
import importlib
import io
import locale
import logging
import multiprocessing.process
import multiprocessing.util
import os
import signal
import sys
import tempfile
import threading
import warnings
import weakref
from typing import Any

_signal: Any = importlib.import_module("_signal")  # what the signal module makes enumerations of

_LENIENT_LOCALES = ("C", "POSIX", "C.UTF-8", "C.utf8", "UTF-8")  # in which Python lets undecodable bytes through
_IGNORED = (int(signal.SIGPIPE), int(signal.SIGXFSZ))  # by every Python
_SIGNALS = tuple(int(number) for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP})

_main_process: Any = multiprocessing.process.current_process()  # that of the zygote, which imports this

_kept: list[Any] = []  # what must not be closed by the end of its last reference


def begin(stdout: int, stderr: int) -> None:
    """Cuts a fork off from what its parent has open, registered and set."""
    gc.freeze()  # objects of the parent own descriptors by numbers that will mean something else
    signals()
    descriptors(stdout, stderr)
    locale.setlocale(locale.LC_ALL, "C")
    locale.setlocale(locale.LC_CTYPE, "")
    streams()
    exit_handlers()
    logs()
    processes()
    search_path()
    warning_filters()
    tempfile.tempdir = None
    sys.setrecursionlimit(sys.getrecursionlimit() + _depth())


def signals() -> None:
    """Gives signals the meaning that they have after exec."""
    signal.set_wakeup_fd(-1)
    for number in _SIGNALS:
        handler = _signal.getsignal(number)
        if number == signal.SIGCHLD or handler not in (None, _signal.SIG_DFL, _signal.SIG_IGN):
            _signal.signal(number, _signal.SIG_DFL)
    for number in _IGNORED:
        _signal.signal(number, _signal.SIG_IGN)
    if _signal.getsignal(signal.SIGINT) == _signal.SIG_DFL:
        _signal.signal(signal.SIGINT, _signal.default_int_handler)
    _signal.pthread_sigmask(_signal.SIG_SETMASK, ())


def descriptors(stdout: int, stderr: int) -> None:
    """Leaves three descriptors open: nothing to read, and two to write to."""
    null = os.open(os.devnull, os.O_RDONLY)
    for fd, number in ((stdout, 1), (stderr, 2), (null, 0)):
        os.dup2(fd, number)
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2:
            try:
                os.close(int(name))
            except OSError:  # the one of the listing
                pass


def streams() -> None:
    """Makes new standard streams, because those of the parent may hold text that it has not written yet."""
    _kept.extend((sys.stdin, sys.stdout, sys.stderr, sys.__stdin__, sys.__stdout__, sys.__stderr__))
    encoding, errors = _encoding()
    sys.stdin = sys.__stdin__ = io.TextIOWrapper(
        io.BufferedReader(io.FileIO(0, closefd=False)), encoding, errors)
    sys.stdout = sys.__stdout__ = _output(1, encoding, errors)
    sys.stderr = sys.__stderr__ = _output(2, encoding, "backslashreplace", by_line=True)


def _output(fd: int, encoding: str, errors: str, by_line: bool = False) -> io.TextIOWrapper:
    raw = io.FileIO(fd, "w", closefd=False)
    if os.environ.get("PYTHONUNBUFFERED"):
        return io.TextIOWrapper(raw, encoding, errors, "\n", write_through=True)
    return io.TextIOWrapper(io.BufferedWriter(raw), encoding, errors, "\n", line_buffering=by_line)


def _encoding() -> tuple[str, str]:
    encoding = "utf-8" if sys.flags.utf8_mode else locale.getpreferredencoding(False)
    lenient = sys.flags.utf8_mode or locale.setlocale(locale.LC_CTYPE) in _LENIENT_LOCALES
    wanted, _, errors = os.environ.get("PYTHONIOENCODING", "").partition(":")
    return codecs.lookup(wanted or encoding).name, errors or ("surrogateescape" if lenient else "strict")


def exit_handlers() -> None:
    """Drops what the parent wants done at its end, and has the standard library's own handlers begin anew."""
    atexit._clear()
    finalize: Any = weakref.finalize
    _kept.append(dict(finalize._registry))
    finalize._registry.clear()
    finalize._registered_with_atexit = False
    util: Any = multiprocessing.util
    util._finalizer_registry.clear()
    atexit.register(logging.shutdown)
    atexit.register(util._exit_function)


def logs() -> None:
    """Removes the handlers of the parent's log."""
    _kept.append(list(logging.root.handlers))
    logging.root.handlers.clear()
    if logging.root.level != logging.WARNING:
        logging.root.setLevel(logging.WARNING)
    handlers: Any = getattr(logging, "_handlerList", [])
    handlers.clear()


def processes() -> None:
    """Makes this the main process as the multiprocessing package sees it."""
    process: Any = multiprocessing.process
    _kept.append(process._current_process)
    process._current_process = _main_process
    process._parent_process = None
    process._children = set()
    tracker = sys.modules.get("multiprocessing.resource_tracker")
    if tracker is not None:
        tracker._resource_tracker.__init__()  # its pipe is closed


def search_path() -> None:
    """Takes away where Ansible's command lies: Python looks for code beside a script, but that is not the module."""
    sys.path[:] = [path for path in sys.path
                   if path not in ("", ".") and not os.path.exists(os.path.join(path, "ansible-playbook"))]


def warning_filters() -> None:
    """Has Python show the warnings that it shows when nobody has asked for others."""
    if warnings.filters != _filters:
        warnings.resetwarnings()
        filters: Any = warnings.filters
        filters.extend(_filters)


def _first_filters() -> list[Any]:
    with warnings.catch_warnings():
        warnings.resetwarnings()
        if sys.flags.dev_mode:
            warnings.simplefilter("default")
        else:
            for category in (ResourceWarning, ImportWarning, PendingDeprecationWarning, DeprecationWarning):
                warnings.simplefilter("ignore", category)
            warnings.filterwarnings("default", category=DeprecationWarning, module="__main__")
        process: Any = getattr(warnings, "_processoptions", None)
        if process is not None:
            process(sys.warnoptions)
        return list(warnings.filters)


_filters = _first_filters()


def end(code: int) -> int:
    """Does what Python does at its end and returns the exit code."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None and not stream.closed:
                stream.flush()
        except (OSError, ValueError):
            code = code or 120  # as Python has it
    return code


def _depth() -> int:
    frame, depth = sys._getframe(), 0
    while frame is not None:
        frame, depth = frame.f_back, depth + 1  # type: ignore[assignment]
    return depth
