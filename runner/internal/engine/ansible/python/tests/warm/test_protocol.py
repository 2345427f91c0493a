"""Tests of what is said on the sockets, and of what a program and an environment are taken for."""

from __future__ import annotations

import array
import os
import pathlib
import socket
import sys
import tempfile
import unittest

from . import hooksupport  # noqa: F401  # which puts the package on the path
from chartbook_warm import environment, processes, protocol, quiet, run, system
from chartbook_warm.program import NotPlain, Program


class ControlTest(unittest.TestCase):
    """Messages and descriptors of the control socket."""

    def setUp(self) -> None:
        self.operator, its = socket.socketpair()
        self.control = protocol.Control(its)
        self.addCleanup(self.operator.close)
        self.addCleanup(self.control.close)

    def pass_on(self, text: bytes, *fds: int) -> None:
        """Sends bytes and descriptors."""
        self.operator.sendmsg([text], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else [])

    def test_whole_and_parts(self) -> None:
        self.pass_on(b'{"stop": {}}\n{"reap": {"id": "a"}}\n{"re')
        self.assertEqual(self.control.receive(), [("stop", {}), ("reap", {"id": "a"})])
        self.pass_on(b'ap": {"id": "b"}}\n')
        self.assertEqual(self.control.receive(), [("reap", {"id": "b"})])
        self.operator.close()
        self.assertIsNone(self.control.receive())

    def test_descriptors_stay_with_their_message(self) -> None:
        pipes = [os.pipe() for _ in range(2)]
        self.pass_on(b'{"stop": {}}\n')
        for number, pipe in enumerate(pipes):
            self.pass_on(b'{"run": {"id": "%d"}}\n' % number, *pipe)
        kinds = []
        while len(kinds) < 3:
            for kind, _ in self.control.receive() or []:
                kinds.append(kind)
                passed = self.control.descriptors() if kind == "run" else []
                wanted = pipes[len(kinds) - 2] if kind == "run" else []
                self.assertEqual([os.fstat(fd).st_ino for fd in passed], [os.fstat(fd).st_ino for fd in wanted])
                self.assertFalse(any(os.get_inheritable(fd) for fd in passed))
                for fd in (*passed, *wanted):
                    os.close(fd)
        self.assertEqual(self.control.descriptors(), [])

    def test_what_is_no_message(self) -> None:
        for text in (b"no\n", b"[]\n", b'{"a": {}, "b": {}}\n', b'{"a": 1}\n'):
            with self.subTest(text), self.assertRaises(protocol.ProtocolError):
                protocol.decode(text)

    def test_numbers_of_descriptors(self) -> None:
        self.assertEqual(protocol.RunDescriptors.of([7, 8, 9, 10, 11]).extra, (11,))
        for count in (3, 17):
            with self.subTest(count), self.assertRaises(protocol.ProtocolError):
                protocol.RunDescriptors.of(list(range(count)))

    def test_request(self) -> None:
        for text, error in ((b'{"argv": ', EOFError), (b"[]\n", protocol.ProtocolError)):
            ours, its = socket.socketpair()
            ours.sendall(text)
            ours.close()
            with its, self.assertRaises(error):
                run.receive(its.fileno())


class EnvironmentTest(unittest.TestCase):
    """What is looked up, and what runs share."""

    def test_recorder(self) -> None:
        with environment.Recorder() as recorder:
            os.environ.get("ONE")
            os.getenv("TWO")
            os.environb.get(b"THREE")
            "FOUR" in os.environ  # pylint: disable=pointless-statement
            os.environ.get("TMPDIR")
            os.environ.get("K8S_AUTH_HOST")
        os.environ.get("LATER")
        self.assertEqual(recorder.consulted(), ["FOUR", "ONE", "THREE", "TWO"])
        with environment.Recorder() as recorder:
            dict(os.environ)
        self.assertIn(environment.ALL, recorder.consulted())
        self.assertIs(type(os.environ), type(os.environb))

    def test_differences(self) -> None:
        shared = environment.Shared(["SEEN", "UNSET"])
        own = dict(os.environ)
        for why, change, want in [
            ("nobody has looked", {"OTHER": "1"}, []),
            ("per run", {"KUBECONFIG": "1", "K8S_AUTH_HOST": "2", "CHARTBOOK_RUN": "3"}, []),
            ("looked for and not found", {"UNSET": ""}, ["UNSET"]),
            ("of C libraries and Python", {"LC_X": "1", "TZ": "2", "PYTHONPATH": "3"}, ["LC_X", "PYTHONPATH", "TZ"]),
        ]:
            with self.subTest(why):
                self.assertEqual(shared.differences({**own, **change}), want)
        self.assertEqual(environment.Shared([environment.ALL]).differences({**own, "OTHER": ""}), ["OTHER"])

    def test_replace(self) -> None:
        before = dict(os.environ)
        self.addCleanup(environment.replace, before)
        environment.replace({"ONLY": "\udcff"})
        self.assertEqual(dict(os.environb), {b"ONLY": b"\xff"})
        self.assertEqual(os.popen("env | grep -c ONLY").read(), "1\n")


class ProgramTest(unittest.TestCase):
    """Which programs are taken, and how they are run."""

    def write(self, text: str) -> str:
        """Writes a program."""
        with tempfile.NamedTemporaryFile("w", suffix="-play", delete=False) as file:
            file.write(text)
        self.addCleanup(os.unlink, file.name)
        return file.name

    def test_taken(self) -> None:
        guard = "if __name__ == '__main__':\n    sys.exit(len(sys.argv))\n"
        program = Program(self.write(f"#!/bin/python3\n'''text'''\nimport re\nimport sys\nfrom os import path\n{guard}"))
        program.do_imports()
        before, argv = sys.modules["__main__"], sys.argv
        try:
            with self.assertRaises(SystemExit) as ended:
                program.run(["a", "b"])
            self.assertEqual((ended.exception.code, sys.argv[0], sys.modules["__main__"].__file__), (3, program.path, program.path))
        finally:
            sys.modules["__main__"], sys.argv = before, argv
        self.assertEqual(program.directory(), os.path.realpath(tempfile.gettempdir()))

    def test_refused(self) -> None:
        for text in ("import os\nos.umask(0)\n", "x = 1\n", "if True:\n    pass\n", "def f(): pass\n", "f'{1}'\n"):
            with self.subTest(text), self.assertRaises(NotPlain):
                Program(self.write(text)).do_imports()
        for text in ("exec true; done (\n", "\0"):
            with self.subTest(text), self.assertRaises(NotPlain):
                Program(self.write(text))


class SystemTest(unittest.TestCase):
    """What is asked of the kernel."""

    def test_end_of_a_child(self) -> None:
        for code, signal in ((3, 0), (-1, 9)):
            pid = os.fork()
            if pid == 0:
                sum(range(300_000))
                os.kill(os.getpid(), signal)
                os._exit(3)
            while (end := system.look_at_end(pid)) is None:
                pass
            self.assertIn(pid, processes.children())
            self.assertEqual((end.code, end.signal), (code, signal))
            _, _, usage = os.wait4(pid, 0)
            self.assertAlmostEqual(end.cpu_us, (usage.ru_utime + usage.ru_stime) * 1e6, delta=2000)
            self.assertEqual(end.max_rss_kb, usage.ru_maxrss)
            self.assertIsNone(processes.read(pid))

    def test_mark(self) -> None:
        script = ("import sys; sys.path.insert(0, sys.argv[1]); from chartbook_warm.system import Mark\n"
                  "mark = Mark('SOME'); print(mark.size); mark.overwrite(b'SOME=b')\n"
                  "print(sorted(filter(None, open('/proc/self/environ').read().split('\\0'))))\n"
                  "for wrong in (lambda: mark.overwrite(b'x' * 100), lambda: Mark('OME')):\n"
                  "    try: wrong()\n    except (ValueError, LookupError) as error: print(type(error).__name__)\n")
        read, write = os.pipe()
        pid = os.posix_spawn(sys.executable, ["python", "-c", script, hooksupport.WARM], {"SOMETHING": "1", "SOME": "aaaa", "Z": "2"},
                             file_actions=[(os.POSIX_SPAWN_DUP2, write, 1)])
        os.close(write)
        os.waitpid(pid, 0)
        with os.fdopen(read) as file:
            self.assertEqual(file.read().split("\n")[:4], ["9", "['SOME=b', 'SOMETHING=1', 'Z=2']", "ValueError", "LookupError"])

    def test_capture(self) -> None:
        with quiet.capture() as printed:
            print("out")
            os.system("echo err >&2")
        self.assertEqual((printed.stdout, printed.stderr), (b"out\n", b"err\n"))
        with quiet.capture() as again:
            printed.repeat()
        self.assertEqual((again.stdout, again.stderr, again.text()), (b"out\n", b"err\n", "out\nerr"))


class PathsTest(unittest.TestCase):
    """The package has no imports but the standard library and, in functions, Ansible."""

    def test_nothing_of_ansible_at_the_top(self) -> None:
        for path in pathlib.Path(hooksupport.WARM).rglob("*.py"):
            for line in path.read_text(encoding="utf-8").splitlines():
                self.assertFalse(line.startswith(("import ansible", "from ansible")), path)
