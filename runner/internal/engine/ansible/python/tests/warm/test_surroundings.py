"""Tests of zygotes in unusual surroundings, and of what keeps them from starting."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

from .client import Zygote, program
from .hooksupport import NeedsAnsible
from .scene import Case, Scene, said

THREAD = "import threading, time\nthreading.Thread(target=time.sleep, args=(1000,), daemon=True).start()\n"
SOCKET = "import socket\nkept = socket.socket()\n"


class StartTest(Case):
    """How a zygote starts, and whether."""

    def start(self, *options: str, **env: str) -> Zygote:
        """Starts a zygote, which is to be ended at the end of the test."""
        zygote = Zygote(*options, env=self.scene.env(**env))
        self.addCleanup(zygote.last_words)
        self.addCleanup(zygote.wait)
        self.addCleanup(zygote.hang_up)
        return zygote

    def collection(self, name: str, text: str, part: str = "module_utils/code.py") -> None:
        """Writes a collection of the namespace odd."""
        self.scene.write(f"found/ansible_collections/odd/{name}/plugins/{part}", text)

    def test_ready(self) -> None:
        missing = str(self.scene.root / "plugins")
        zygote = self.start("--preload", "kubernetes.core", ANSIBLE_FILTER_PLUGINS=missing)
        ready = zygote.ready
        self.assertEqual((ready["protocol"], ready["hooks"], ready["notes"]), (1, "", []))
        self.assertIn("kubernetes.core", ready["collections"])
        for name in ("ANSIBLE_NO_LOG", "ANSIBLE_CONFIG", "ENABLE_TURBO_MODE", "HOME", "NO_COLOR", "PATH"):
            self.assertIn(name, ready["consulted"])
        for name in ("*", "KUBECONFIG", "TMPDIR", "ANSIBLE_LOCAL_TEMP", "CHARTBOOK_RUN"):
            self.assertNotIn(name, ready["consulted"])
        files = {path: stamp for path, *stamp in ready["files"]}
        for path in (program(), "/etc/ansible/ansible.cfg", missing, self.scene.env()["HOME"] + "/.ansible.cfg"):
            self.assertIn(path, files)
        self.assertEqual(files[missing], [0, -1, 0])
        status = os.stat(program())
        self.assertEqual(files[program()], [status.st_mtime_ns, status.st_size, status.st_ino])
        utils = os.path.join(ready["collections"]["kubernetes.core"], "plugins/module_utils/common.py")
        self.assertIn(utils, files)
        self.assertLess(len(files), 300)
        self.assertEqual(os.listdir(self.scene.temp), [], "nothing is left of the start")

    def test_what_is_broken_is_left_out(self) -> None:
        self.collection("broken", "raise RuntimeError('no')\n")
        self.collection("exiting", "import sys\nprint('so long')\nsys.exit(3)\n")
        names = "odd.broken,odd.missing,odd.exiting"
        zygote = self.start("--preload", names, ANSIBLE_COLLECTIONS_PATH=str(self.scene.project / "found"))
        for name in (*names.split(","), "so long"):
            self.assertTrue([note for note in zygote.ready["notes"] if name in note], zygote.ready["notes"])

    def test_what_forks_cannot_share(self) -> None:
        for name, text in (("threads", THREAD), ("sockets", SOCKET)):
            self.collection(name, text)
            zygote = self.start("--preload", f"odd.{name}", ANSIBLE_COLLECTIONS_PATH=str(self.scene.project / "found"))
            self.assertEqual(zygote.failed.get("reason"), name, zygote.ready)
            self.assertEqual(zygote.wait(), 1)

    def test_locale(self) -> None:
        for name in ("C", "xx_YY.ISO-8859-1"):
            plain = self.scene.plain("--version", LC_ALL=name)
            zygote = self.start(LC_ALL=name)
            self.assertEqual(bool(zygote.failed), plain.code != 0, name)
            if zygote.failed:
                self.assertEqual(zygote.failed["reason"], "locale")
                self.assertEqual(zygote.failed["message"], " ".join((plain.stdout + plain.stderr).split()))

    def test_settings_that_are_refused(self) -> None:
        settings = self.scene.write("bad.cfg", "[defaults]\nforks = many\n")
        plain = self.scene.plain("--version", ANSIBLE_CONFIG=settings)
        zygote = self.start(ANSIBLE_CONFIG=settings)
        self.assertEqual(zygote.failed["reason"], "import")
        self.assertEqual(zygote.failed["message"], " ".join(plain.stderr.split()))

    def test_program_that_does_more(self) -> None:
        path = self.scene.write("wrapper", "#!/usr/bin/python3\nimport os\nos.environ['ANSIBLE_NOCOLOR'] = 'yes'\n")
        zygote = self.start("--program", path)
        self.assertEqual(zygote.failed["reason"], "interpreter")


class UserTest(NeedsAnsible):
    """Users without a home, without a name, on a root file system that cannot be written."""

    def test_no_home(self) -> None:
        for home in ("", "/proc"):
            with self.subTest(home):
                scene = Scene()
                self.addCleanup(scene.close)
                scene.forget("HOME")
                more = {"HOME": home} if home else {}
                scene.set(**more)
                play = scene.play("- debug: msg=home={{ lookup('env', 'HOME') }}\n- stat: path=/\n")
                warm, plain = scene.run(play), scene.plain(play)
                self.assertEqual((warm.code, warm.stdout, warm.stderr), (0, plain.stdout, plain.stderr))

    def test_settings_below_the_working_directory(self) -> None:
        scene = Scene()
        self.addCleanup(scene.close)
        scene.set(ANSIBLE_CONFIG=scene.write("some.cfg", "[defaults]\nroles_path = {{CWD}}/mine\nfilter_plugins = {{CWD}}/mine\n"
                                             "collections_path = {{CWD}}/mine\n"))
        collection = "ansible_collections/own/code/roles/also/tasks/main.yml"
        for place in ("here", "there"):
            scene.write(f"{place}/mine/role/tasks/main.yml", "- debug: msg=said={{ 1 | word }}\n")
            scene.write(f"{place}/mine/words.py", f"class FilterModule:\n    def filters(self):\n        return {{'word': lambda v: '{place}'}}\n")
            scene.write(f"{place}/mine/{collection}", f"- debug: msg=also={place}\n")
            play = scene.play("- include_role: {name: role}\n- include_role: {name: own.code.also}\n")
            warm, plain = (run(play, cwd=str(scene.project / place)) for run in (scene.run, scene.plain))
            self.assertEqual((warm.code, warm.stdout, warm.stderr), (0, plain.stdout, plain.stderr))
            self.assertEqual(said(warm), {"said": place, "also": place})

    @unittest.skipUnless(os.geteuid() == 0, "only root can make a file system read-only")
    def test_read_only_root_and_no_name(self) -> None:
        if subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False).returncode != 0:
            self.skipTest("no mount namespaces here")
        place = tempfile.mkdtemp(prefix="warm-", dir="/var/tmp")
        self.addCleanup(shutil.rmtree, place)
        here = os.path.dirname(os.path.abspath(__file__))
        script = ('set -e; mount --make-rprivate /; mount -t tmpfs -o mode=1777 tmpfs "$1"; cp -r "$2" "$1/python"; '
                  'mount -o remount,ro,bind /; cd "$1/python/tests"; '
                  'exec setpriv --reuid 4242 --regid 0 --clear-groups env -u HOME TMPDIR="$1" PYTHONDONTWRITEBYTECODE=1 '
                  '"$3" -m unittest warm.test_surroundings.UserTest.test_no_home')
        python = os.path.dirname(os.path.dirname(here))
        done = subprocess.run(["unshare", "--mount", "sh", "-c", script, "sh", place, python, sys.executable],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
