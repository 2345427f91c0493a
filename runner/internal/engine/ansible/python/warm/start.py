"""Starts a zygote of the warm executor: see chartbook_warm."""

from __future__ import annotations

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))  # a second time, unless Python has been told not to

import chartbook_warm  # noqa: E402  pylint: disable=wrong-import-position

if __name__ == "__main__":
    del sys.path[0]
    sys.exit(chartbook_warm.main(sys.argv[1:]))
