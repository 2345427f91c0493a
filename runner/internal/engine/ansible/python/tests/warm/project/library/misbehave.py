#!/usr/bin/python
"""Ends in one of the ways in which modules should not."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

from ansible.module_utils.basic import AnsibleModule


def main():
    """Does what `how` says."""
    module = AnsibleModule({"how": {"type": "str"}, "pids": {"type": "path"}})
    how = module.params["how"]
    if how == "raise":
        raise ValueError("broken")
    if how == "exit_text":
        sys.exit("exit text")
    if how == "garbage":
        print("before")
        print(json.dumps({"changed": True, "said": "\u00e9"}))
        print("after")
        sys.exit(0)
    if how == "invalid":
        sys.stdout.buffer.write(b'{"said": "\xff"}\n')
        sys.exit(0)
    if how == "code":
        print(json.dumps({"said": "code"}))
        sys.exit(3)
    if how == "fail":
        module.fail_json(msg="failed", rc=7)
    if how == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if how == "silent":
        os._exit(0)
    if how == "large":
        module.exit_json(said="x" * (50 << 20))
    if how in ("hang", "kill_worker"):
        child = subprocess.Popen(["sleep", "300"])
        with open(module.params["pids"], "w", encoding="utf-8") as file:
            file.write("%d %d" % (os.getpid(), child.pid))
        if how == "kill_worker":
            os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(300)
    module.exit_json(said=how)


if __name__ == "__main__":
    main()
