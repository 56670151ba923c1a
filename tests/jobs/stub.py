"""The command line with reading and explaining replaced: `python -m tests.jobs.stub BEHAVIOUR ARGUMENTS…`."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import sys
import time

import chathpc
from chathpc.commands.main import main
from chathpc.errors import AdapterError
from tests.reports.sample import sample


def behave(behaviour: str) -> None:
    if behaviour == "unreadable":
        raise AdapterError("damaged\nbadly", path="db/meta.db", offset=12, hint="Measure again.")
    if behaviour == "bug":
        raise ZeroDivisionError("a\nbug")
    if behaviour == "exit":
        sys.exit(3)
    if behaviour == "memory":
        raise MemoryError
    if behaviour == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    if behaviour == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if behaviour == "hang":
        time.sleep(600)
    if behaviour == "deaf":  # a long call into a library: Python runs no signal handler meanwhile
        ctypes.PyDLL(None).sleep(600)
    if behaviour == "noise":
        os.write(1, b"noise\n")
        os.write(2, b"noise\n")
        print("noise", file=sys.stderr)
    if behaviour == "full":
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))


def explain(profile: object, **options: object) -> object:
    behave(sys.argv[1])
    if sys.argv[1] == "slow":
        time.sleep(0.05)
    if sys.argv[1] == "modest":
        facts = f"{os.nice(0)} {os.environ['OMP_NUM_THREADS']} {resource.getrlimit(resource.RLIMIT_CORE)[0]} {options['llm']}"
        return sample().model_copy(update={"headline": facts})
    if sys.argv[1] == "proposing":
        return sample().model_copy(update={"headline": getattr(options["propose"], "__name__", "")})
    return sample()


if __name__ == "__main__":
    chathpc.load = lambda *paths, format=None: None  # type: ignore[assignment,return-value,misc]
    chathpc.explain = explain  # type: ignore[assignment]
    sys.exit(main(sys.argv[2:]))
