"""The program ansible-playbook, as the file that it is."""

from __future__ import annotations

import ast
import os
import sys
import types


class NotPlain(Exception):
    """The program does more than to import and to call ansible-core."""


class Program:
    """A Python program whose imports can be done ahead of the rest of it."""

    def __init__(self, path: str) -> None:
        """Reads the program. Raises NotPlain if it is not one of Python, OSError if it cannot be read."""
        self.path = path
        with open(path, "rb") as file:
            source = file.read()
        try:
            self._tree = ast.parse(source, path)
            self._code = compile(self._tree, path, "exec", dont_inherit=True)
        except (SyntaxError, ValueError) as error:
            raise NotPlain(f"{path} is not Python: {error}") from error

    def directory(self) -> str:
        """Returns the directory that Python puts first on its path when it runs the program."""
        return os.path.dirname(os.path.realpath(self.path))

    def do_imports(self) -> None:
        """Does what the program does before it comes to its main part.

        Raises NotPlain if that may be more than to import something: it would take effect once, not in each run.
        """
        if not self._only_imports() and not self._is_part_of_ansible():
            raise NotPlain(f"{self.path} does more than to import ansible-core and call it")
        exec(self._code, types.ModuleType("chartbook_program").__dict__)  # pylint: disable=exec-used

    def run(self, argv: list[str]) -> None:
        """Runs the program from its beginning, as Python does. It ends by an exception, mostly SystemExit."""
        main = types.ModuleType("__main__")
        main.__file__ = self.path
        sys.modules["__main__"] = main
        sys.argv = [self.path, *argv]
        exec(self._code, main.__dict__)  # pylint: disable=exec-used

    def print_exception(self, error: BaseException) -> None:
        """Prints an exception that the program has let pass, as Python does."""
        traceback = error.__traceback__
        while traceback is not None and traceback.tb_frame.f_code.co_filename != self.path:
            traceback = traceback.tb_next
        sys.stdout.flush()
        sys.excepthook(type(error), error, traceback)

    def _only_imports(self) -> bool:
        return all(isinstance(node, (ast.Import, ast.ImportFrom)) or _is_text(node) or _is_main(node)
                   for node in self._tree.body)

    def _is_part_of_ansible(self) -> bool:
        """Tells whether it is a link to the module itself, as in a source tree of ansible-core."""
        return os.path.realpath(self.path).endswith("/ansible/cli/playbook.py")


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_main(node: ast.stmt) -> bool:
    return (isinstance(node, ast.If) and isinstance(node.test, ast.Compare)
            and isinstance(node.test.left, ast.Name) and node.test.left.id == "__name__")
