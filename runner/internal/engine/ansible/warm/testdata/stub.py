"""Stands for a zygote in tests: the same protocol, with shell scripts for playbooks. STUB in its environment says what is
wrong with it."""

import array
import json
import os
import select
import signal
import socket
import sys
import time

FAULTS = os.environ.get("STUB", "").split(",")
control = socket.socket(fileno=3)
runs = {}  # process ids by the id of the run
ended = set()
passed = []


def say(kind, **content):
    control.sendall(json.dumps({kind: content}).encode() + b"\n")


def live(run, stdout, stderr, events, *extra):
    """Is a run process."""
    os.setsid()
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    control.close()
    for number, fd in enumerate((stdout, stderr, events, *extra), 1):
        os.dup2(fd, number + 100)
    for number in range(1, 4 + len(extra)):
        os.dup2(number + 100, number)
    os.closerange(4 + len(extra), run)
    os.closerange(run + 1, 300)
    text = b""
    while not text.endswith(b"\n"):
        part = os.read(run, 65536)
        if not part:
            os._exit(250)
        text += part
    task = json.loads(text)
    os.chdir(task["cwd"])
    script = task["argv"][-1]
    if script.endswith("/test.yml"):
        script = "exit 7" if "test" in FAULTS else "echo an event >&3"
    elif "dumb" in FAULTS:  # it never says how it ends
        os.set_inheritable(run, False)
        os.execve("/bin/sh", ["sh", "-c", script], task["env"])
    pid = os.fork()
    if pid == 0:
        os.close(run)
        os.execve("/bin/sh", ["sh", "-c", script], task["env"])
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    forked = 0 if "unforked" in FAULTS else 1
    os.write(run, json.dumps({"final": {"code": code, "modules": {"forked": forked}}}).encode() + b"\n")
    os._exit(code & 255)


def start(id, mark):
    fds = passed.pop(0)
    if "late" in FAULTS and "-test" not in id:
        time.sleep(1.5)
    if "refuse" in FAULTS and "-test" not in id:
        say("refused", id=id, message="no forks today")
    elif "deaf" not in FAULTS or "-test" in id:
        pid = os.fork()
        if pid == 0:
            live(*fds)
        runs[id] = pid
        say("started", id=id, pid=pid)
    for fd in fds:
        os.close(fd)


def collect():
    for id, pid in runs.items():
        seen = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if seen and id not in ended:
            ended.add(id)
            exited = seen.si_code == os.CLD_EXITED
            if "secretive" not in FAULTS or "-test" in id:
                say("ended", id=id, code=seen.si_status if exited else -1, signal=0 if exited else seen.si_status,
                    cpu_us=1500, max_rss_kb=2048)


def serve():
    rest, stopping = b"", False
    wake, end = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(end)
    while runs or not stopping:
        select.select([control, wake], [], [])
        try:
            os.read(wake, 100)
        except BlockingIOError:
            pass
        collect()
        if not select.select([control], [], [], 0)[0]:
            continue
        data, ancillary, _, _ = control.recvmsg(4096, socket.CMSG_LEN(64))
        for _, _, content in ancillary:
            passed.append(array.array("i", content))
        if not data:
            for pid in runs.values():
                os.killpg(pid, signal.SIGKILL)
            return
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            (kind, content), = json.loads(line).items()
            if kind == "run":
                start(**content)
            elif kind == "reap":
                os.waitpid(runs.pop(content["id"]), 0)
                ended.discard(content["id"])
                if "mortal" in FAULTS and "-test" not in content["id"]:
                    os.kill(os.getpid(), signal.SIGSEGV)
            else:
                stopping = True


def main():
    with open(os.environ["STUB_LOG"], "a", encoding="utf-8") as log:
        print(os.getpid(), *sys.argv[1:], file=log)
    if "silent" in FAULTS:
        time.sleep(1000)
    if "crash" in FAULTS:
        sys.exit("cannot import the universe")
    if "garbage" in FAULTS:
        control.sendall(b"Traceback (most recent call last):\n")
        time.sleep(1000)
    if "locale" in FAULTS:
        say("failed", reason="locale", message="C is no locale")
        sys.exit(1)
    if "slow" in FAULTS:
        time.sleep(1)
    files = []
    for path in os.environ.get("STUB_FILES", "").split():
        about = os.stat(path)
        files.append([path, about.st_mtime_ns, about.st_size, about.st_ino])
    say("ready", protocol=2 if "protocol" in FAULTS else 1, ansible="2.0", python="3.0", hooks="", consulted=["CONSULTED", "STUB"],
        files=files, collections={}, notes=[])
    serve()


main()
