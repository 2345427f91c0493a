"""Starts a zygote of the warm executor: see chartbook_warm."""

from __future__ import annotations

import os
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:] = [HERE, *(path for path in sys.path if path != HERE)]

from chartbook_warm import main  # noqa: E402  pylint: disable=wrong-import-position

if __name__ == "__main__":
    sys.path.remove(HERE)
    sys.exit(main(sys.argv[1:]))
