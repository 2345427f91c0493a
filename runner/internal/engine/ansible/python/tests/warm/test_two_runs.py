"""Tests of runs that one zygote forks one after the other: each has what is its own, and nothing of those before it."""

from __future__ import annotations

import os

from .apiserver import Server
from .client import Finished
from .scene import VAULTED, Case, said
from .test_isolation import PROBE, probe

# What imported code may do to its process: it is a collection's that is imported ahead.
RUDE = ("import os, signal\nos.umask(0o007)\nos.chdir('/usr')\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "os.environ['RUDE'] = 'yes'\n")

READ = """
- kubernetes.core.k8s_info: {api_version: v1, kind: ConfigMap, namespace: default, name: sample}
  register: read
  ignore_errors: true
- debug: msg=found={{ read.resources | default([]) | length }}
"""


class TwoRunsTest(Case):
    """The zygote was started with what the first run has, as it would be by somebody who does not think of the second."""

    options = ("--preload", "kubernetes.core,odd.rude")
    server: Server
    kubeconfigs: dict[str, str]

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        scene = cls.scene
        cls.server = Server()
        cls.addClassCleanup(cls.server.close)
        cls.kubeconfigs = {name: cls.server.kubeconfig(str(scene.root), name) for name in ("good", "other")}
        scene.write("found/ansible_collections/odd/rude/plugins/module_utils/code.py", RUDE)
        scene.write("lookup_plugins/probe.py", PROBE)
        scene.set(ANSIBLE_COLLECTIONS_PATH=f"{scene.project}/found:/usr/share/ansible/collections:/usr/lib/python3/dist-packages")
        first = {"LEFT_OVER": "of-the-first", "KUBECONFIG": cls.kubeconfigs["good"], "K8S_AUTH_HOST": cls.server.host,
                 "K8S_AUTH_API_KEY": "good"}
        scene.set(**first)
        assert scene.zygote.ready["notes"] == [], scene.zygote.ready
        for name in first:
            scene.forget(name)

    def test_credentials(self) -> None:
        play = self.scene.play(READ)
        for why, env, token in [
            ("its own file", {"KUBECONFIG": self.kubeconfigs["good"]}, "good"),
            ("a bad token, after a good one", {"K8S_AUTH_HOST": self.server.host, "K8S_AUTH_API_KEY": "bad"}, "bad"),
            ("another file", {"KUBECONFIG": self.kubeconfigs["other"]}, "other"),
            ("none at all", {}, ""),
        ]:
            with self.subTest(why):
                self.server.seen.clear()
                done = self.good(play, **env)
                self.assertEqual(done.last["final"]["modules"], {"forked": 1})
                self.assertEqual(said(done)["found"], "1" if token in ("good", "other") else "0", done)
                self.assertEqual(set(self.server.seen), {token} - {""})

    def test_environment(self) -> None:
        shows = "sorted({'LEFT_OVER', 'RUDE', 'HOME'} & {e.partition('=')[0] for e in open('/proc/self/environ').read().split(chr(0))})"
        done = self.good(self.scene.play(
            probe("worker", "sorted({'LEFT_OVER', 'RUDE', 'OWN'} & set(os.environ))") + probe("kernel", shows)
            + "- slurp: {src: /proc/self/environ}\n  register: r\n- debug: msg=module={{ 'of-the-first' in r.content | b64decode }}\n"
            "- shell: echo started=$LEFT_OVER$RUDE$OWN\n  register: s\n- debug: msg={{ s.stdout }}\n"), OWN="mine")
        self.assertEqual(done.last["final"]["modules"], {"forked": 2})
        self.assertEqual(said(done), {"worker": "['OWN']", "kernel": "['HOME']", "module": "False", "started": "mine"})

    def test_directory_umask_and_signals(self) -> None:
        play = self.scene.play(
            probe("worker", "([line for line in open('/proc/self/status') if line.startswith(('Umask', 'SigIgn'))], os.getcwd())")
            + "- shell: echo module=$(pwd) $(umask) $(grep SigIgn /proc/$PPID/status)\n  register: s\n- debug: msg={{ s.stdout }}\n")
        for name in ("here", "there"):
            place = self.scene.project / name
            place.mkdir()
            warm, plain = self.scene.run(play, cwd=str(place)), self.scene.plain(play, cwd=str(place))
            self.assertEqual(said(warm), said(plain), warm)
            self.assertIn(f"'{place}'", said(warm)["worker"])

    def test_vault_secrets(self) -> None:
        play = self.scene.play("- debug: msg=word={{ word }}\n")
        argv = [play, "-e", "@" + self.scene.write("secret.yml", VAULTED)]
        self.assertEqual(said(self._with_password(argv, "sesame"))["word"], "open")
        without, plain = self.scene.run(*argv), self.scene.plain(*argv)
        self.assertEqual((without.code, without.stderr), (plain.code, plain.stderr))
        self.assertIn("no vault secrets", without.stderr)
        self.assertNotEqual(self._with_password(argv, "wrong").code, 0)
        self.assertEqual(said(self._with_password(argv, "sesame"))["word"], "open")
        declined = self.scene.run(*argv, ANSIBLE_VAULT_PASSWORD_FILE="/somewhere")
        self.assertIn("ANSIBLE_VAULT_PASSWORD_FILE", declined.last["declined"]["message"])

    def _with_password(self, argv: list[str], word: str) -> Finished:
        read, write = os.pipe()
        os.write(write, word.encode())
        os.close(write)
        run = self.scene.start(*argv, "--vault-password-file", "/dev/fd/4", extra=(read,))
        os.close(read)
        return run.finish()
