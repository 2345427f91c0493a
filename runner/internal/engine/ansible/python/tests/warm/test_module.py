"""Tests of module children, without Ansible: what becomes of a module that runs in a fork."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest
from typing import Any, Mapping

from .hooksupport import gone  # makes the package known, too

from chartbook_warm import fork, source
from chartbook_warm.adapters.base import Adapter
from chartbook_warm.fork import Answer
from chartbook_warm.payload import Payload


class FakeAdapter(Adapter):
    """Has modules end as those of the classic family do."""

    signatures: Mapping[str, Any] = {}
    unnamed_module = "unnamed.%s"
    shell_stays: bool | None = True

    def debugging(self, task_vars: Mapping[str, Any]) -> bool:
        return False

    def special_encoding(self) -> bool:
        return False

    def encode(self, arguments: Mapping[str, Any]) -> str:
        return "{}"

    def built(self, payload: Payload) -> Any:
        return payload

    def prepare(self, arguments: bytes) -> None:
        sys.modules["__arguments__"] = arguments  # type: ignore[assignment]

    def report(self, error: Exception) -> bool:
        return False

    def no_exit(self) -> None:
        print("no exit")
        sys.exit(1)


class ModuleTest(unittest.TestCase):
    """Each test runs a few lines as a module."""

    def setUp(self) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.folder = os.path.realpath(self._folder.name)

    def payload(self, text: str, **environment: str) -> Payload:
        """Returns a payload with a module's lines."""
        path = os.path.join(self.folder, "sample.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(textwrap.dedent(text))
        return Payload("sample", source.load(path), "unnamed.sample", "#!python", ("/bin/sh", "/bin/sh"), environment)

    def run_module(self, text: str, adapter: Adapter | None = None, **environment: str) -> Answer:
        """Runs lines as a module in the folder."""
        return fork.execute(self.payload(text, **environment), adapter or FakeAdapter(), self.folder)

    def test_result_and_exit_codes(self) -> None:
        for text, code, stderr in (
            ("raise SystemExit", 0, b""),
            ("raise SystemExit(3)", 3, b""),
            ("raise SystemExit(259)", 3, b""),
            ("raise SystemExit('why not')", 1, b"why not\n"),
            ("import os; os._exit(7)", 7, b""),
            ("", 1, b""),
        ):
            with self.subTest(text):
                answer = self.run_module(f"print('out')\n{text}")
                out = b"out\nno exit\n" if not text else b"" if "_exit(7" in text else b"out\n"
                if os.environ.get("PYTHONUNBUFFERED") and "_exit(7" in text:
                    out = b"out\n"
                self.assertEqual(answer, Answer(code, out, stderr))

    def test_traceback_shows_the_module_alone(self) -> None:
        answer = self.run_module("""
            def inner():
                raise ValueError("broken")
            inner()
            """)
        text = answer.stderr.decode()
        self.assertEqual(answer.code, 1)
        self.assertTrue(text.startswith("Traceback (most recent call last):\n"), text)
        self.assertEqual(text.count("File "), 2, text)
        self.assertEqual(text.count("sample.py"), 2, text)
        self.assertTrue(text.endswith("ValueError: broken\n"), text)

    def test_errors_of_the_worker_are_not_those_of_the_module(self) -> None:
        try:
            raise KeyError("of the worker")
        except KeyError:
            answer = self.run_module("raise ValueError('of the module')")
        self.assertNotIn(b"of the worker", answer.stderr)
        self.assertIn(b"of the module", answer.stderr)

    def test_death_by_signal_as_a_shell_tells_it(self) -> None:
        for number, remark in ((signal.SIGKILL, b"Killed\n"), (signal.SIGTERM, b"Terminated\n"),
                               (signal.SIGSEGV, b"Segmentation fault"), (signal.SIGPIPE, b"")):
            with self.subTest(number):
                answer = self.run_module(f"""
                    import os, resource, signal, sys
                    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
                    sys.stderr.write("first ")
                    sys.stderr.flush()
                    signal.signal({int(number)}, signal.SIG_DFL) if {int(number)} == 13 else None
                    os.kill(os.getpid(), {int(number)})
                    """)
                self.assertEqual(answer.code, 128 + number)
                self.assertTrue(answer.stderr.startswith(b"first " + remark), answer.stderr)

    def test_death_without_a_shell(self) -> None:
        adapter = FakeAdapter()
        adapter.shell_stays = False
        self.assertEqual(self.run_module("import os; os.kill(os.getpid(), 9)", adapter), Answer(-9, b"", b""))

    def test_death_with_a_shell_that_may_stay(self) -> None:
        adapter = FakeAdapter()
        adapter.shell_stays = None
        answers = (Answer(-9, b"", b""), Answer(137, b"", b"Killed\n"))
        shell = subprocess.run(["/bin/sh", "-c", "/bin/sh -c '/bin/sh -c \"kill -9 \\$\\$\"'"], stderr=subprocess.PIPE,
                               check=False)
        self.assertEqual(self.run_module("import os; os.kill(os.getpid(), 9)", adapter), answers[shell.returncode > 0])

    def test_keyboard_interrupt_ends_by_the_signal(self) -> None:
        answer = self.run_module("raise KeyboardInterrupt")
        self.assertEqual(answer.code, 128 + signal.SIGINT)
        self.assertTrue(answer.stderr.endswith(b"KeyboardInterrupt\n"), answer.stderr)

    def test_threads_and_exit_handlers(self) -> None:
        import atexit

        atexit.register(print, "handler of the parent")
        self.addCleanup(atexit.unregister, print)
        answer = self.run_module("""
            import atexit, tempfile, threading, time
            kept = tempfile.TemporaryDirectory(dir=".")
            atexit.register(print, "handler")
            threading.Thread(target=lambda: (time.sleep(0.1), print("thread"))).start()
            threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
            print("main")
            raise SystemExit(0)
            """)
        self.assertEqual(answer, Answer(0, b"main\nthread\nhandler\n", b""))
        self.assertEqual(os.listdir(self.folder), ["sample.py"])

    def test_much_output_on_both_streams(self) -> None:
        answer = self.run_module("""
            import sys
            for _ in range(50):
                sys.stderr.write("e" * (1 << 20))
                sys.stdout.write("o" * (1 << 20))
            sys.exit(0)
            """)
        self.assertEqual((len(answer.stdout), len(answer.stderr)), (50 << 20, 50 << 20))

    def test_output_that_is_left_in_the_worker_is_not_the_modules(self) -> None:
        sys.stdout.write(" ")  # stays in the buffer, if there is one
        answer = self.run_module("import sys; sys.stdout.flush(); sys.exit(0)")
        self.assertEqual(answer.stdout, b"")

    def test_environment_and_place(self) -> None:
        answer = self.run_module("""
            import os, subprocess, sys, tempfile, time
            print(os.environ["NAME"], os.environ["PWD"], os.getcwd(), tempfile.gettempdir(), time.tzname[0])
            sys.stdout.flush()
            subprocess.run(["sh", "-c", "echo $NAME $PWD"])
            sys.exit(0)
            """, NAME="of the task", TMPDIR=self.folder, TZ="XYZ-3")
        here = self.folder
        self.assertEqual(answer.stdout.decode(), f"of the task {here} {here} {here} XYZ\nof the task {here}\n")
        self.assertNotIn("NAME", os.environ)

    def test_name_and_arguments(self) -> None:
        answer = self.run_module("""
            import sys, __main__
            assert __name__ == "__main__" and vars(__main__) is globals()
            print(__file__, sys.argv[0], __package__, _module_fqn, _modlib_path)
            sys.exit(0)
            """)
        path = os.path.join(self.folder, "sample.py")
        self.assertEqual(answer.stdout.decode().split(), [path, path, "unnamed", "unnamed.sample",
                                                          os.path.dirname(self.folder)])

    def test_descriptors_and_input(self) -> None:
        with open(os.devnull, "rb") as file:
            os.set_inheritable(file.fileno(), True)
            answer = self.run_module("""
                import os, sys
                print(sorted(os.listdir("/proc/self/fd"))[:3], len(os.listdir("/proc/self/fd")), repr(sys.stdin.read()))
                sys.exit(0)
                """)
        self.assertEqual(answer.stdout, b"['0', '1', '2'] 4 ''\n")  # the fourth is that of the listing

    def test_signals_have_their_usual_meaning(self) -> None:
        earlier = signal.signal(signal.SIGTERM, lambda *_: None)
        self.addCleanup(signal.signal, signal.SIGTERM, earlier)
        answer = self.run_module("""
            import signal, sys
            print(signal.getsignal(signal.SIGTERM).name, signal.getsignal(signal.SIGPIPE).name,
                  signal.getsignal(signal.SIGINT).__name__, signal.pthread_sigmask(signal.SIG_BLOCK, ()))
            sys.exit(0)
            """)
        self.assertEqual(answer.stdout, b"SIG_DFL SIG_IGN default_int_handler set()\n")

    def test_recursion_is_as_deep_as_in_a_process_of_its_own(self) -> None:
        answer = self.run_module("""
            import sys
            def down(n):
                return n if n == 0 else down(n - 1)
            down(960)
            print("deep")
            sys.exit(0)
            """)
        self.assertEqual(answer.stdout, b"deep\n", answer.stderr[-300:])

    def test_state_does_not_pass_from_module_to_module(self) -> None:
        text = """
            import json, os, sys
            print(getattr(json, "left", None), os.environ.get("LEFT"), len(sys.path))
            json.left = os.environ["LEFT"] = "behind"
            sys.path.append("/left")
            os.umask(0o777)
            sys.exit(0)
            """
        first, second = self.run_module(text), self.run_module(text)
        self.assertTrue(first.stdout.startswith(b"None None "), first)
        self.assertEqual(first, second)

    def test_a_detached_child_that_holds_the_output_is_waited_for(self) -> None:
        answer = self.run_module("""
            import os, sys, time
            print("parent", flush=True)
            if os.fork() == 0:
                time.sleep(0.3)
                print("child", flush=True)
            os._exit(0)
            """)
        self.assertEqual(answer.stdout, b"parent\nchild\n")

    def test_an_interrupted_wait_ends_the_module_and_its_children(self) -> None:
        class Interrupted(BaseException):
            """As the timeout of a task is one."""

        def interrupt(*_: object) -> None:
            raise Interrupted

        payload = self.payload("""
            import os, subprocess, time
            child = subprocess.Popen(["sleep", "300"])
            with open("pids.new", "w") as file:
                file.write(f"{os.getpid()} {child.pid}")
            os.rename("pids.new", "pids")
            time.sleep(300)
            """)
        earlier = signal.signal(signal.SIGALRM, interrupt)
        self.addCleanup(signal.signal, signal.SIGALRM, earlier)
        pids = os.path.join(self.folder, "pids")
        watcher = os.fork()
        if watcher == 0:  # interrupts as soon as the module is under way
            while not os.path.exists(pids):
                time.sleep(0.01)
            os.kill(os.getppid(), signal.SIGALRM)
            os._exit(0)
        self.addCleanup(os.waitpid, watcher, 0)
        before = len(os.listdir("/proc/self/fd"))
        with self.assertRaises(Interrupted):
            fork.execute(payload, FakeAdapter(), self.folder)
        with open(pids, encoding="utf-8") as file:
            module, child = map(int, file.read().split())
        self.assertFalse(os.path.exists(f"/proc/{module}"))
        self.assertTrue(gone(child))
        self.assertEqual(len(os.listdir("/proc/self/fd")), before)

    def test_the_end_of_the_worker_ends_the_module(self) -> None:
        payload = self.payload("""
            import os, time
            with open("pid.new", "w") as file:
                file.write(str(os.getpid()))
            os.rename("pid.new", "pid")
            time.sleep(300)
            """)
        path = os.path.join(self.folder, "pid")
        worker = os.fork()
        if worker == 0:
            fork.execute(payload, FakeAdapter(), self.folder)
            os._exit(0)
        while not os.path.exists(path):
            time.sleep(0.01)
        os.kill(worker, signal.SIGKILL)
        os.waitpid(worker, 0)
        with open(path, encoding="utf-8") as file:
            self.assertTrue(gone(int(file.read())))


if __name__ == "__main__":
    unittest.main()
