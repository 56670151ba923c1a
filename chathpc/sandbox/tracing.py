"""Watching what a command asks of the kernel: strace runs it inside the sandbox and hands its record out through a pipe.

strace writes into a pipe whose reading end lies outside, so nothing can be taken back. What is traced has the writing end open too: a line
that names this pipe tells of it, whoever writes there (`Trace.own`).
"""

from __future__ import annotations

import os
import shutil

from chathpc.sandbox.contract import Request

#: What leaves something behind, moves work elsewhere, or could reach strace itself. Reading is not traced: nothing is left by it.
CALLS = (
    "execve,execveat,fork,vfork,clone,clone3,open,openat,creat,write,writev,pwrite64,pwritev,pwritev2,sendfile,copy_file_range,splice,tee,"
    "vmsplice,fsync,fdatasync,sync,syncfs,sync_file_range,msync,truncate,ftruncate,rename,renameat,renameat2,unlink,unlinkat,chdir,fchdir,readlink,readlinkat,chown,fchown,fchownat,"
    "lchown,utime,utimes,futimesat,utimensat,setxattr,fsetxattr,lsetxattr,flock,connect,kill,tkill,tgkill,ptrace,process_vm_writev,"
    "pidfd_getfd,io_submit"
)
#: Characters of each text that are shown: a whole command line, and not all of what is written.
_SHOWN = 512
#: `?` before a name: architectures lack some of the older calls.
_TRACED = "trace=" + ",".join(f"?{each}" for each in CALLS.split(","))
_OPTIONS = ("-f", "-q", "-y", "-s", str(_SHOWN), "--seccomp-bpf", "-e", _TRACED)


class Trace:
    """The record of one command. `command` is what to run; `handed` goes to it, `kept` is closed with the rest, `end` is read from."""

    def __init__(self, request: Request) -> None:
        """What `request` asks for: nothing, where it is not to be traced."""
        self.command = request.command
        self.handed: list[int] = []
        self.kept: list[int] = []
        self.end: int | None = None
        if request.trace is not None:
            self.end, writing = os.pipe()
            self.handed, self.kept = [writing], [self.end]
            request.trace(b"%s\n" % own(writing))
            strace = shutil.which("strace") or "strace"
            self.command = (strace, *_OPTIONS, "-o", f"/proc/self/fd/{writing}", "--", *request.command)


def own(writing: int) -> bytes:
    """The first line of a record: the name that strace has for the pipe that it writes to."""
    return b"pipe:[%d]" % os.fstat(writing).st_ino
