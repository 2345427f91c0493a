"""What a module child does: it becomes the process that Ansible would have started for the module."""

from __future__ import annotations

import os
import signal
import sys
import time
import traceback
import types
from typing import NoReturn

from chartbook_warm import clients, fresh, source
from chartbook_warm.adapters.base import Adapter
from chartbook_warm.payload import Payload


def compile_cached(path: str) -> None:
    """Reads and compiles a module file ahead of its use in forks.

    Raises:
        OSError: The file cannot be read.
    """
    source.load(path)


def run(payload: Payload, adapter: Adapter, folder: bytes | str | None, stdout: int, stderr: int) -> NoReturn:
    """Executes a module in this process, which ends with it, and writes to the descriptors what it prints."""
    earlier = sys.exc_info()[1]
    code = 1
    try:
        fresh.begin(stdout, stderr)
        if folder is not None:
            os.chdir(folder)
        _set_environment(payload.environment)
        clients.reset()
        adapter.prepare(payload.arguments)
        code = fresh.end(_execute(payload, adapter, earlier))
    except BaseException:  # pylint: disable=broad-except
        os.write(2, traceback.format_exc().encode("utf-8", "replace"))
    finally:
        os._exit(code)


def _set_environment(values: dict[str, str]) -> None:
    os.environ.update(values)
    if "PWD" not in values:
        os.environ["PWD"] = _working_directory()
    if "TZ" in values:
        time.tzset()


def _working_directory() -> str:
    """Returns what a shell calls the place where it is started: the name that it is given, as long as that is right."""
    name = os.environ.get("PWD", "")
    try:
        if os.path.isabs(name) and os.path.samefile(name, "."):
            return name
    except OSError:
        pass
    return os.getcwd()


def _execute(payload: Payload, adapter: Adapter, earlier: BaseException | None) -> int:
    """Runs the code and returns the exit code; what the code did not handle is reported."""
    main = _main_module(payload)
    sys.argv = [payload.source.path]
    try:
        try:
            assert payload.source.code is not None
            exec(payload.source.code, main.__dict__)  # pylint: disable=exec-used
            adapter.no_exit()
        except Exception as error:  # pylint: disable=broad-except
            _strip(error, payload.source.path, earlier)
            if not adapter.report(error):
                raise
    except SystemExit as end:
        return _exit_code(end)
    except KeyboardInterrupt as error:
        _strip(error, payload.source.path, earlier)
        sys.excepthook(type(error), error, error.__traceback__)
        fresh.end(1)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    except BaseException as error:  # pylint: disable=broad-except
        _strip(error, payload.source.path, earlier)
        sys.excepthook(type(error), error, error.__traceback__)
    return 1


def _main_module(payload: Payload) -> types.ModuleType:
    main = types.ModuleType("__main__")
    main.__dict__.update(
        __file__=payload.source.path,
        __package__=payload.package,
        __cached__=None,
        __builtins__=__builtins__,
        _module_fqn=payload.fqn,
        _modlib_path=_library(payload),
    )
    sys.modules["__main__"] = main
    return main


def _library(payload: Payload) -> str:
    """Returns the folder in which Python would find the module by its dotted name."""
    path = payload.source.path
    for _ in payload.fqn.split("."):
        path = os.path.dirname(path)
    return path


def _strip(error: BaseException, path: str, earlier: BaseException | None) -> None:
    """Takes the frames and the errors of this program out of what a traceback shows."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename != path:
        trace = trace.tb_next
    if trace is not None:
        error.__traceback__ = trace
    link: BaseException | None = error
    while earlier is not None and link is not None:
        if link.__context__ is earlier:
            link.__context__ = None
        link = link.__context__


def _exit_code(end: SystemExit) -> int:
    if end.code is None:
        return 0
    if isinstance(end.code, int):
        return end.code & 0xFF
    print(end.code, file=sys.stderr)
    return 1
