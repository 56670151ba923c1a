"""Attempts to get out of a sandbox: small programs in C and shell, and what shows that one got out.

The programs find what they attack in their environment: OUTSIDE (a folder with a secret, `.ssh/id_rsa`, and a file `victim`), VICTIM
(a process of the same user), CALLER (the process that called the sandbox), PORT, ABSTRACT, SEGMENT. A program that got what it wanted
prints the token, which only what is kept from it holds, or the word `escaped`; other signs are looked for from outside.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

#: Where an attempt shows: in its output, or what it did to the file, the folder, the process, the listeners or the terminal outside.
Sign = Literal[
    "output",
    "planted",
    "victim-file",
    "victim-mode",
    "victim-process",
    "listener",
    "terminal",
    "late",
    "size",
    "set-id",
]
User = Literal["root", "user"]


@dataclass(frozen=True, slots=True)
class Escape:
    """One attempt. `free` are the users for whom it works where nothing holds it (none where that would do harm or needs special
    hardware); `users` those for whom it is one; `gap` names what Landlock is known to leave open."""

    name: str
    shell: str = ""
    c: str = ""
    sign: Sign = "output"
    free: tuple[User, ...] = ("root", "user")
    limits: dict[str, float] = field(default_factory=dict)
    gap: str = ""
    users: tuple[User, ...] = ("root", "user")


_C = """
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#define NUMBER(name) atoi(getenv(name))
#define ESCAPED() (puts("escaped"), fflush(stdout))
static void show(const char *path) {
    char text[4096]; int file = open(path, O_RDONLY); ssize_t n;
    while (file >= 0 && (n = read(file, text, sizeof text)) > 0) fwrite(text, 1, n, stdout);
    fflush(stdout);
}
static const char *secret(void) {
    static char path[4096]; snprintf(path, sizeof path, "%s/.ssh/id_rsa", getenv("OUTSIDE")); return path;
}
"""


def program(escape: Escape) -> str:
    """Source of an attempt in C, whole."""
    return _C + escape.c


def _send(family: str, kind: str, address: str) -> str:
    return (
        f"int main(void) {{ {address}\n"
        f'int s = socket({family}, {kind}, 0); if (s < 0 || connect(s, (void *)&a, size)) return 1; return write(s, "escaped", 7) != 7; }}'
    )


_INTERNET = (
    'struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(NUMBER("PORT"))}; int size = sizeof a;'
    'inet_pton(AF_INET, "127.0.0.1", &a.sin_addr);'
)
_ABSTRACT = (
    'struct sockaddr_un a = {.sun_family = AF_UNIX}; strcpy(a.sun_path + 1, getenv("ABSTRACT"));'
    'int size = offsetof(struct sockaddr_un, sun_path) + 1 + strlen(getenv("ABSTRACT"));'
)
_NAMED = (
    "struct sockaddr_un a = {.sun_family = AF_UNIX}; int size = sizeof a;"
    'snprintf(a.sun_path, sizeof a.sun_path, "%s/socket", getenv("OUTSIDE"));'
)
#: A library whose loading reads the secret.
_LIBRARY = (
    "printf '%s' '#include <stdio.h>\nint plugin_is_GPL_compatible;\nint plugin_init(void *a, void *b) { return 0; }\n"
    'static void __attribute__((constructor)) go(void) { FILE *f = fopen("\'"$OUTSIDE"\'/.ssh/id_rsa", "r"); int c;\n'
    "while (f && (c = getc(f)) != EOF) putchar(c); fflush(stdout); }' > evil.c; gcc -shared -fPIC -o evil.so evil.c; "
)
MEBIBYTE = 1 << 20

ESCAPES = (
    # What it may not read
    Escape("read-ssh-key", 'cat "$OUTSIDE/.ssh/id_rsa"'),
    Escape("read-through-symbolic-link", 'ln -s "$OUTSIDE/.ssh/id_rsa" link; cat link'),
    Escape("read-through-hard-link", 'ln "$OUTSIDE/.ssh/id_rsa" link; cat link'),
    Escape("read-with-dots", "cat ../home/.ssh/id_rsa"),
    Escape(
        "read-through-proc-root",
        'for p in self 1 $PPID $CALLER $VICTIM; do cat "/proc/$p/root$OUTSIDE/.ssh/id_rsa" "/proc/$p/cwd/.ssh/id_rsa"; done',
    ),
    Escape("read-shadow", "grep -q '^root:' /etc/shadow && echo escaped", free=("root",)),
    Escape("include-a-secret", 'printf \'#include "%s/.ssh/id_rsa"\\n\' "$OUTSIDE" > a.c; gcc -E a.c'),
    Escape(
        "incbin-a-secret",
        'printf \'__asm__(".incbin \\\\"%s/.ssh/id_rsa\\\\"");\\n\' "$OUTSIDE" > a.c; gcc -c a.c && strings a.o || cat a.o',
    ),
    Escape(
        "make-shell",
        "printf 'X := $(shell cat %s/.ssh/id_rsa)\\nall:\\n\\t@echo $(X)\\n' \"$OUTSIDE\" > Makefile; make",
    ),
    Escape("compiler-plugin", _LIBRARY + "echo 'int x;' > x.c; gcc -fplugin=./evil.so -c x.c"),
    Escape("preloaded-library", _LIBRARY + "LD_PRELOAD=./evil.so ls"),
    Escape(
        "linker-script",
        'printf \'INPUT(%s/.ssh/id_rsa)\\n\' "$OUTSIDE" > s.ld; ld -o x s.ld 2>&1; ld -b binary -r -o x "$OUTSIDE/.ssh/id_rsa" && cat x',
    ),
    Escape(
        "run-from-memory",
        c='int main(void) { int f = memfd_create("x", 0); dprintf(f, "#!/bin/sh\\ncat %s\\n", secret());'
        'char *v[] = {"x", 0}; fexecve(f, v, environ); return 1; }',
    ),
    Escape(
        "leave-a-new-root",
        c='int main(void) { mkdir("cell", 0700); int f = open(".", O_RDONLY); if (chroot("cell") || fchdir(f)) return 1;'
        'for (int i = 0; i < 64; i++) if (chdir("..")) return 1; if (chroot(".")) return 1; show(secret()); }',
        free=("root",),
    ),
    Escape("read-shared-memory-file", 'cat "/dev/shm/$SEGMENT"'),
    # Keys
    Escape("key-in-environment", "env"),
    Escape(
        "key-in-environment-of-others",
        "cat /proc/1/environ /proc/$PPID/environ /proc/$CALLER/environ /proc/$VICTIM/environ",
    ),
    Escape(
        "key-in-kernel-ring",
        c='int main(void) { char t[256]; long k = syscall(SYS_keyctl, 10, -3, "user", "chathpc-test", 0);'
        "long n = k < 0 ? -1 : syscall(SYS_keyctl, 11, k, t, sizeof t); if (n > 0) fwrite(t, 1, n, stdout); }",
    ),
    # Other processes
    Escape("list-processes", "cat /proc/[0-9]*/cmdline", gap="processes"),
    Escape(
        "trace-a-process",
        c='int main(void) { int p = NUMBER("VICTIM"); if (!ptrace(PTRACE_SEIZE, p, 0, 0)) ESCAPED();'
        'p = NUMBER("CALLER"); if (!ptrace(PTRACE_SEIZE, p, 0, 0)) ESCAPED(); }',
    ),
    Escape(
        "read-memory-of-a-process",
        c='int main(void) { char a[64], path[64]; unsigned long start; snprintf(path, 64, "/proc/%s/maps", getenv("VICTIM"));'
        'FILE *f = fopen(path, "r"); if (!f || fscanf(f, "%lx", &start) != 1) return 1;'
        "struct iovec to = {a, 4}, from = {(void *)start, 4};"
        'if (process_vm_readv(NUMBER("VICTIM"), &to, 1, &from, 1, 0) == 4) ESCAPED(); }',
    ),
    Escape("kill-a-process", "kill -9 $VICTIM", sign="victim-process", gap="signals"),
    Escape(
        "kill-a-process-group",
        "kill -9 -$VICTIM",
        sign="victim-process",
        gap="signals",
    ),
    Escape(
        "shared-memory-segment",
        c='int main(void) { int m = shmget(NUMBER("SEGMENT_KEY"), 0, 0); char *t = m < 0 ? (void *)-1 : shmat(m, 0, SHM_RDONLY);'
        "if (t != (void *)-1) puts(t); }",
    ),
    # The network
    Escape("tcp", c=_send("AF_INET", "SOCK_STREAM", _INTERNET), sign="listener"),
    Escape("udp", c=_send("AF_INET", "SOCK_DGRAM", _INTERNET), sign="listener"),
    Escape("abstract-unix-socket", c=_send("AF_UNIX", "SOCK_STREAM", _ABSTRACT), sign="listener"),
    Escape("named-unix-socket", c=_send("AF_UNIX", "SOCK_STREAM", _NAMED), sign="listener"),
    Escape("socket-to-the-hypervisor", c="int main(void) { if (socket(40, SOCK_STREAM, 0) >= 0) ESCAPED(); }", free=()),
    # What it may not change
    Escape("write-outside", 'echo x > "$OUTSIDE/planted"', sign="planted"),
    Escape("write-above", "echo x > ../home/planted", sign="planted"),
    Escape("write-through-symbolic-link", 'ln -s "$OUTSIDE/victim" link; echo escaped >> link', sign="victim-file"),
    Escape("write-through-hard-link", 'ln "$OUTSIDE/victim" link; echo escaped >> link', sign="victim-file"),
    Escape("truncate-outside", 'truncate -s 0 "$OUTSIDE/victim"', sign="victim-file", gap="truncate"),
    Escape("change-mode-outside", 'chmod 0666 "$OUTSIDE/victim"', sign="victim-mode", gap="metadata"),
    Escape("see-names-outside", 'test -e "$OUTSIDE/.ssh/id_rsa" && echo escaped', gap="names"),
    Escape(
        "inherited-descriptors",
        c='int main(void) { for (int f = 3; f < 64; f++) if (write(f, "escaped", 7) < 0) continue; }',
        sign="victim-file",
    ),
    Escape(
        "write-to-the-system",
        "echo x > /usr/bin/chathpc-escape && echo escaped; rm -f /usr/bin/chathpc-escape",
        free=(),
    ),
    Escape(
        "kernel-settings",
        c='int main(void) { if (open("/proc/sys/kernel/core_pattern", O_WRONLY) >= 0) ESCAPED();'
        'if (open("/proc/sysrq-trigger", O_WRONLY) >= 0) ESCAPED(); }',
        free=("root",),
    ),
    Escape("set-user-id-left-behind", "cp /bin/sh left; chmod 6755 left", sign="set-id"),
    Escape(
        "set-user-id-made",
        c='int main(void) { umask(0); int f = open("left", O_CREAT | O_WRONLY, 06755); return f < 0; }',
        sign="set-id",
    ),
    Escape("set-user-id-program", '"$SHOWN/reader"', free=("user",), users=("user",)),
    # The terminal
    Escape(
        "type-into-the-terminal",
        c='int main(void) { int f = open("/dev/tty", O_RDWR); for (const char *c = "escaped\\n"; *c; c++) ioctl(f, TIOCSTI, c);'
        'return write(f, "escaped\\n", 8) != 8; }',
        sign="terminal",
    ),
    Escape("colour-the-terminal", "printf '\\033]0;escaped\\007' | tee /dev/tty >&2", sign="terminal"),
    # The kernel's less guarded doors
    Escape("io-uring", c="int main(void) { char p[120] = {0}; if (syscall(425, 4, p) >= 0) ESCAPED(); }"),
    Escape("userfaultfd", c="int main(void) { if (syscall(SYS_userfaultfd, 1) >= 0) ESCAPED(); }"),
    Escape("new-user-namespace", c="int main(void) { if (!unshare(CLONE_NEWUSER)) ESCAPED(); }"),
    Escape(
        "new-user-namespace-by-clone",
        c="static int child(void *x) { ESCAPED(); return 0; } static char stack[65536];"
        "int main(void) { clone(child, stack + 65536, CLONE_NEWUSER | SIGCHLD, 0); wait(0); }",
    ),
    Escape("mount", c='int main(void) { mkdir("m", 0700); if (!mount("x", "m", "tmpfs", 0, 0)) ESCAPED(); }', free=()),
    Escape(
        "devices",
        "for d in mem kmem port kmsg vda sda nvme0n1 tty1 fuse loop0 kvm; do [ -r /dev/$d ] && head -c 0 /dev/$d && echo escaped; done",
        free=(),
    ),
    # More than its share
    Escape(
        "fork-bomb",
        c="int main(void) { int n = 0; for (int i = 0; i < 400; i++) { int p = fork(); if (p == 0) { sleep(4); _exit(0); } n += p > 0; }"
        "usleep(1500000); if (n == 400) ESCAPED(); while (wait(0) > 0); }",
        limits={"processes": 60},
    ),
    Escape(
        "memory-bomb",
        c="int main(void) { char *p = malloc(400 << 20); if (p) { memset(p, 1, 400 << 20); ESCAPED(); } }",
        limits={"memory": 200 * MEBIBYTE},
    ),
    Escape("one-large-file", "head -c 40000000 /dev/zero > big", sign="size", limits={"file": 8 * MEBIBYTE}),
    Escape(
        "many-files",
        c='static char b[1 << 20]; int main(void) { char n[32]; for (int i = 0; i < 300; i++) { sprintf(n, "f%d", i);'
        "int f = open(n, O_CREAT | O_WRONLY, 0600); if (write(f, b, sizeof b) < 0) return 1; close(f); usleep(3000); } ESCAPED(); }",
        limits={"disk": 64 * MEBIBYTE},
    ),
    Escape(
        "fill-temporary-folder",
        c='static char b[1 << 20]; int main(void) { if (chdir(getenv("TMPDIR"))) return 1; char n[32];'
        'for (int i = 0; i < 300; i++) { sprintf(n, "g%d", i); int f = open(n, O_CREAT | O_WRONLY, 0600);'
        "if (write(f, b, sizeof b) < (int)sizeof b) return 1; close(f); usleep(3000); } ESCAPED(); }",
        limits={"disk": 64 * MEBIBYTE, "temporary": 32 * MEBIBYTE},
    ),
    Escape("output-flood", "head -c 3000000 /dev/zero | tr '\\0' x; echo escaped", limits={"output": 100_000}),
    Escape("outlive-the-limit", "trap '' TERM INT HUP; sleep 3; echo escaped", limits={"seconds": 0.5}),
    Escape(
        "daemon",
        # A daemon ignores the hang-up: the session may end before it has left it.
        c="int main(void) { signal(SIGHUP, SIG_IGN); if (fork()) return 0; setsid(); if (fork()) return 0; for (int i = 0; i < 3; i++) close(i);"
        'usleep(700000); return open("late", O_CREAT | O_WRONLY, 0600) < 0; }',
        sign="late",
    ),
)
