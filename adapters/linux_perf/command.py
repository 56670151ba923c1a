"""The program in the command line of `perf record`."""

from __future__ import annotations

from collections.abc import Sequence

#: Options with a value as the next word (perf record -h of perf 6.1), single letters and whole words; words without one.
_LETTERS = "cCDeFGjkmor"
_WORDS = frozenset(
    {
        "--affinity", "--branch-filter", "--call-graph", "--cgroup", "--clang-opt", "--clang-path", "--clockid", "--control",
        "--count", "--cpu", "--delay", "--event", "--filter", "--freq", "--max-size", "--mmap-flush", "--mmap-pages",
        "--num-thread-synthesize", "--output", "--proc-map-timeout", "--realtime", "--switch-max-files",
        "--switch-output-event", "--synth",
    }
)  # fmt: skip
_FLAGS = frozenset(
    {
        "--all-kernel", "--all-user", "--branch-any", "--buildid-all", "--data", "--kernel-callchains", "--no-bpf-event",
        "--no-buffering", "--no-buildid", "--no-buildid-cache", "--no-inherit", "--off-cpu", "--per-thread", "--period",
        "--phys-data", "--quiet", "--raw-samples", "--sample-cpu", "--stat", "--strict-freq", "--switch-events",
        "--tail-synthesize", "--timestamp", "--timestamp-filename", "--user-callchains", "--verbose",
    }
)  # fmt: skip
#: What records other programs than the one that it starts.
_OTHERS = ("--all-cpus", "--pid", "--tid", "--uid")


def recorded(command: Sequence[str]) -> tuple[str, ...]:
    """The program that `perf record` or `perf sched record` started and recorded, with its arguments; nothing where that cannot be told."""
    at = 2 + (list(command[1:2]) == ["sched"])
    if list(command[at - 1 : at]) != ["record"]:
        return ()
    while at < len(command) and command[at].startswith("-") and command[at] != "-":
        word = command[at]
        at += 1
        if word == "--":
            break
        if word.startswith("--"):
            if word.startswith(_OTHERS) or not (word in _WORDS or word in _FLAGS or "=" in word):
                return ()
            at += word in _WORDS
            continue
        for place, letter in enumerate(word[1:], 2):
            if letter in "aptu":
                return ()
            if letter in _LETTERS:
                at += place == len(word)
                break
    return tuple(command[at:])
