"""Runs playbooks in forks of a process that has ansible-core imported already.

Words used throughout:

zygote          the process that start.py becomes: one thread, everything imported, runs no playbook itself
run process     its fork that runs one playbook, by running the program ansible-playbook from its beginning
worker          a fork that ansible-core makes of the run process, per host and task
module child    a fork of a worker that executes a module's source in what is imported already
"""

from __future__ import annotations

from .zygote import main

__all__ = ["main"]
