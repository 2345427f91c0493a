"""Tests of how the Kubernetes client reads its configuration."""

from __future__ import annotations

import io
import pathlib
import sys
import tempfile
import types
import unittest
from typing import Any
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "warm"))

from chartbook_warm import clients  # noqa: E402  pylint: disable=wrong-import-position


class YamlTest(unittest.TestCase):
    """Compares the short way with the long one."""

    def setUp(self) -> None:
        import yaml  # pylint: disable=import-outside-toplevel

        self.yaml = yaml
        self.client: Any = types.ModuleType("kubernetes.config.kube_config")
        self.client.yaml = yaml
        patch = mock.patch.dict(sys.modules, {self.client.__name__: self.client})
        patch.start()
        self.addCleanup(patch.stop)
        clients.prepare()

    def test_the_same_comes_out(self) -> None:
        """Of texts and of files, with one parser or the other."""
        for text in ('{"a": [1, true, null, "x\\u00e9"], "b": {"c": 1.5}}', "a: [1, yes]\nb: {c: 1.5}", "{a: 1}", "{}", "", '"{"'):
            want = self.yaml.safe_load(text)
            self.assertEqual(want, self.client.yaml.safe_load(text))
            self.assertEqual(want, self.client.yaml.safe_load(io.StringIO(text)))
            self.assertEqual(want, self.client.yaml.safe_load(io.BytesIO(text.encode())))

    def test_json_takes_the_short_way(self) -> None:
        """Else it would be for nothing."""
        with mock.patch.object(self.yaml, "safe_load") as slow:
            self.assertEqual({"a": 1}, self.client.yaml.safe_load('{"a": 1}'))
        slow.assert_not_called()

    def test_what_is_neither_is_told_as_ever(self) -> None:
        """With the name of the file."""
        with tempfile.NamedTemporaryFile("w+", suffix=".kubeconfig") as file:
            file.write('{"a": [}')
            file.seek(0)
            with self.assertRaises(self.yaml.YAMLError) as caught:
                self.client.yaml.safe_load(file)
            self.assertIn(file.name, str(caught.exception))

    def test_all_else_is_as_it_was(self) -> None:
        """The client writes with it, too."""
        self.assertIs(self.client.yaml.safe_dump, self.yaml.safe_dump)


if __name__ == "__main__":
    unittest.main()
