"""Tests that nothing of a run, and nothing that was imported ahead, is seen by another run."""

from __future__ import annotations

import os
import pathlib
import re

from .client import Finished
from .hooksupport import NeedsAnsible
from .scene import Case, Scene, said

# A lookup plugin that evaluates an expression where templates are evaluated.
PROBE = """
import os, signal, subprocess, sys, tempfile, threading
from ansible import constants
from ansible.plugins.lookup import LookupBase
class LookupModule(LookupBase):
    def run(self, terms, variables=None, **kwargs):
        return [str(eval(terms[0]))]
"""


def probe(name: str, expression: str) -> str:
    """Returns a task that prints what an expression gives in the process of a worker."""
    return f"- debug:\n    msg: {name}={{{{ lookup('probe', {expression!r}) }}}}\n"


class SettingsTest(Case):
    """What is worked out once per process, and the process itself."""

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.scene.write("lookup_plugins/probe.py", PROBE)

    def compare(self, *tasks: str) -> dict[str, str]:
        """Returns what tasks print in a run, which has to be what they print in a fresh process."""
        play = self.scene.play("".join(tasks))
        warm, plain = self.scene.run(play), self.scene.plain(play)
        self.assertEqual(said(warm), said(plain), warm)
        return said(warm)

    def test_as_in_a_fresh_process(self) -> None:
        shown = self.compare(
            probe("exit", "subprocess.run(['sh', '-c', 'exit 3']).returncode"),
            probe("signals", "[line for line in open('/proc/self/status') if line.startswith('Sig') and 'SigQ' not in line]"),
            probe("handlers", "[str(signal.getsignal(n)) for n in (1, 2, 13, 15, 17)]"),
            probe("streams", "[(f.fileno(), f.errors, f.encoding, f.line_buffering) for f in (sys.stdin, sys.stdout, sys.stderr)]"),
            probe("threads", "threading.main_thread() is threading.current_thread()"),
            probe("umask", "[line for line in open('/proc/self/status') if line.startswith('Umask')]"),
            probe("directory", "os.getcwd()"),
            probe("path", "sys.path"),
            probe("argv", "sys.argv"),
            probe("main", "(sys.modules['__main__'].__file__, 'chartbook' in str(vars(sys.modules['__main__'])))"),
            probe("collections", "sorted(n for n in sys.modules if n.startswith('ansible_collections'))"),
            probe("plugins", "sorted(n for n in sys.modules if n.startswith('ansible.plugins.') and 'fragment' not in n)"),
        )
        self.assertEqual(shown["exit"], "3")

    def test_descriptors(self) -> None:
        play = self.scene.play(probe("open", "[(int(n), os.readlink('/proc/self/fd/' + n).split(':')[0])"
                                     " for n in os.listdir('/proc/self/fd') if os.path.exists('/proc/self/fd/' + n)]"))
        read, write = os.pipe()
        self.addCleanup(os.close, read)
        os.set_inheritable(write, True)
        done = self.scene.start(play, extra=(write,)).finish()
        os.close(write)
        shown = dict(eval(said(done)["open"]))  # pylint: disable=eval-used
        self.assertEqual([number for number in range(5) if number in shown], [0, 1, 2, 3, 4])
        self.assertNotIn("socket", shown.values())
        self.assertLess(max(number for number, kind in shown.items() if kind != "/memfd"), 16, shown)

    def test_own_temporary_directory(self) -> None:
        places = []
        for number in range(2):
            place = self.scene.root / f"temp{number}"
            place.mkdir()
            shown = self.said(probe("local", "constants.DEFAULT_LOCAL_TMP") + probe("system", "tempfile.gettempdir()"),
                              ANSIBLE_LOCAL_TEMP=str(place / "made"), TMPDIR=str(place))
            self.assertEqual(pathlib.Path(shown["local"]).parent, place / "made")
            self.assertEqual(shown["system"], str(place))
            self.assertEqual(os.listdir(place / "made"), [], "what it needed is removed at the end")
            places.append(shown["local"])
        self.assertNotEqual(*places)
        self.assertEqual([name for name in os.listdir(self.scene.temp) if name.startswith("ansible-local")], [])

    def test_task_ids(self) -> None:
        self.scene.write("callback_plugins/ids.py", "from ansible.plugins.callback import CallbackBase\n"
                         "class CallbackModule(CallbackBase):\n"
                         "    CALLBACK_VERSION = 2.0\n    CALLBACK_NAME = 'ids'\n    CALLBACK_TYPE = 'notification'\n"
                         "    def v2_playbook_on_task_start(self, task, is_conditional):\n"
                         "        self._display.display('id ' + task._uuid)\n")
        self.addCleanup(os.unlink, self.scene.project / "callback_plugins" / "ids.py")
        play = self.scene.play("- debug:")
        ids = [line for _ in range(2) for line in self.good(play).stdout.splitlines() if line.startswith("id ")]
        self.assertEqual(len(set(ids)), 2, ids)

    def test_collections_leave_shared_memory_alone(self) -> None:
        """What was imported ahead is out of the collector's reach, which writes to all that it looks at."""
        shown = self.said(probe("frozen", "__import__('gc').get_freeze_count() > 10000"))
        self.assertEqual(shown["frozen"], "True")

    def test_environment(self) -> None:
        values = {"KUBECONFIG": "/a", "K8S_AUTH_HOST": "/b", "PWD": "/c", "ANSIBLE_ASYNC_DIR": "/d", "CHARTBOOK_RUN": "mine",
                  "ANSIBLE_REMOTE_TMP": str(self.scene.root), "UNHEARD_OF": "e \udcff", "LATE": ""}
        tasks = "".join(probe(name.lower(), f"os.environb[b'{name}'].hex()") for name in values) + (
            probe("events", "'CHARTBOOK_EVENTS_FD' in os.environ") + probe("leaked", "'zygote' in str(os.environ)")
            + "- shell: echo at_c_level=$UNHEARD_OF$K8S_AUTH_HOST\n  register: r\n- debug: msg={{ r.stdout }}\n"
        )
        shown = self.said(tasks, **values)
        for name, value in values.items():
            self.assertEqual(bytes.fromhex(shown[name.lower()]), os.fsencode(value))
        self.assertEqual((shown["events"], shown["leaked"]), ("True", "False"))
        self.assertIn("/b", shown["at_c_level"])
        self.assertEqual(said(self.scene.run(self.scene.play(probe("late", "os.environ.get('UNHEARD_OF')"))))["late"], "None")

    def test_arguments(self) -> None:
        play = self.scene.play("- debug: msg=tag={{ word }}\n  tags: one\n- debug: msg=tag={{ word }}\n  tags: two\n")
        for tag in ("one", "two"):
            self.assertEqual(said(self.good(play, "-t", tag, "-e", '{"word": "' + tag + '"}'))["tag"], tag)


class OverrideTest(Case):
    """Plugins and modules beside a playbook or in a role, of names that have been imported ahead."""

    def both(self, play: str) -> Finished:
        """Runs a playbook both ways, and returns what the fork printed."""
        warm, plain = self.scene.run(play), self.scene.plain(play)
        out = [re.sub(r"jid=\S+|ansible_job_id\S+ \S+", "", done.stdout) for done in (warm, plain)]
        self.assertEqual((warm.code, out[0], warm.stderr), (plain.code, out[1], plain.stderr))
        return warm

    def test_beside_the_playbook(self) -> None:
        action = ("from ansible.plugins.action import ActionBase\nclass ActionModule(ActionBase):\n"
                  "    def run(self, tmp=None, task_vars=None):\n        return {'msg': 'mine'}\n")
        lookup = ("DOCUMENTATION = '''\nname: file\nshort_description: x\ndescription: x\noptions:\n"
                  "  colour: {description: x, default: green, env: [{name: COLOUR}]}\n'''\n"
                  "from ansible.plugins.lookup import LookupBase\nclass LookupModule(LookupBase):\n"
                  "    def run(self, terms, variables=None, **kwargs):\n"
                  "        self.set_options(var_options=variables, direct=kwargs)\n        return [self.get_option('colour')]\n")
        self.scene.write("over/action_plugins/debug.py", action)
        self.scene.write("over/lookup_plugins/file.py", lookup)
        self.scene.write("over/filter_plugins/core.py", "class FilterModule:\n    def filters(self):\n"
                         "        return {'upper': lambda v: 'my ' + v, 'bool': lambda v: 'my bool'}\n")
        self.scene.write("over/test_plugins/core.py", "class TestModule:\n    def tests(self):\n        return {'match': lambda v: False}\n")
        over = self.scene.play("- debug: msg=seen\n- set_fact: {a: \"{{ lookup('file', 'x') }} {{ 'b' | upper }} {{ 1 | bool }}\"}\n"
                               "- fail: msg={{ a }}\n  when: not ('a' is match)\n", name="over/play.yml")
        self.assertIn("green my b my bool", self.both(over).stdout)
        done = self.both(self.scene.play("- debug: msg=as_ever={{ 'b' | upper }}\n"))
        self.assertEqual(said(done)["as_ever"], "B")

    def test_in_a_role(self) -> None:
        for role, word in (("one", "first"), ("two", "second")):
            self.scene.write(f"roles/{role}/library/shared.py", "#!/usr/bin/python3\nfrom ansible.module_utils.basic import AnsibleModule\n"
                             f"AnsibleModule({{}}).exit_json(said='{word}')\n")
            self.scene.write(f"roles/{role}/lookup_plugins/env.py", "from ansible.plugins.lookup import LookupBase\n"
                             "class LookupModule(LookupBase):\n    def run(self, terms, variables=None, **kwargs):\n"
                             f"        return ['looked up by the {word}']\n")
            self.scene.write(f"roles/{role}/tasks/main.yml", "- shared:\n  async: 30\n  poll: 1\n  register: r\n"
                             "- debug:\n    msg: \"said={{ r.said }} {{ lookup('env', 'HOME') }}\"\n")
        for role, word in (("one", "first"), ("two", "second")):
            play = self.scene.write(f"{role}.yml", f"- hosts: localhost\n  connection: local\n  gather_facts: no\n  roles: [{role}]\n")
            # A module with async is prepared by Ansible itself, which keeps it by its name.
            self.assertEqual(said(self.both(play))["said"], f"{word} looked up by the {word}")


class CollectionTest(NeedsAnsible):
    """Collections beside the playbook, where one of that name, or of that namespace, was imported ahead."""

    def test_beside_the_playbook(self) -> None:
        for options in (("--preload", "kubernetes.core"), ("--preload", "kubernetes.core", "--without-collections")):
            with self.subTest(options):
                scene = Scene(*options)
                self.addCleanup(scene.close)
                mine = scene.play("- debug: msg=name={{ 'x' | kubernetes.core.k8s_config_resource_name }}\n"
                                  "- debug: msg=other={{ 'x' | kubernetes.other.twice }}\n", name="mine/play.yml")
                self._collection(scene, "core", "k8s_config_resource_name", "'mine'")
                self._collection(scene, "other", "twice", "v + v")
                usual = scene.play("- debug:\n    msg: \"name={{ {'kind': 'Secret', 'metadata': {'name': 'a'}, 'data': {}}"
                                   " | kubernetes.core.k8s_config_resource_name }}\"\n")
                for play, shown in ((usual, {}), (mine, {"name": "mine", "other": "xx"}), (usual, {})):
                    warm, plain = scene.run(play, "-vvvv"), scene.plain(play, "-vvvv")
                    self.assertEqual((warm.code, warm.stdout, warm.stderr), (0, plain.stdout, plain.stderr))
                    self.assertEqual({**said(warm), **shown}, said(warm))
                    self.assertIn("Loading collection kubernetes.core from", warm.stdout)
                self.assertEqual("kubernetes.core" in scene.zygote.ready["collections"], "--without-collections" not in options)

    def _collection(self, scene: Scene, name: str, plugin: str, expression: str) -> None:
        scene.write(f"mine/collections/ansible_collections/kubernetes/{name}/plugins/filter/mine.py",
                    f"class FilterModule:\n    def filters(self):\n        return {{'{plugin}': lambda v: {expression}}}\n")

    def test_kubeconfig(self) -> None:
        scene = Scene("--preload", "kubernetes.core")
        self.addCleanup(scene.close)
        scene.write("lookup_plugins/probe.py", PROBE)
        play = scene.play(probe("ahead", "'kubernetes.config.kube_config' in sys.modules")
                          + probe("inner", "__import__('kubernetes.config').config.kube_config.KUBE_CONFIG_DEFAULT_LOCATION")
                          + probe("outer", "__import__('kubernetes.config').config.KUBE_CONFIG_DEFAULT_LOCATION"))
        for env, want in (({"KUBECONFIG": "/one"}, "/one"), ({"KUBECONFIG": "/two"}, "/two"), ({}, "~/.kube/config")):
            self.assertEqual(said(scene.run(play, **env)), {"ahead": "True", "inner": want, "outer": want})
