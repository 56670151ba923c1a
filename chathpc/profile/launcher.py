"""Where in the words of a command the program begins: behind the launcher of MPI, and behind `perf record`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import PurePath

#: Programs that start others on all ranks.
LAUNCHERS = frozenset(
    {"mpirun", "mpiexec", "mpiexec.hydra", "orterun", "prterun", "srun", "jsrun", "aprun", "flux", "ibrun"}
)
#: Their options with a value as the next word (manual pages of Open MPI 4 and 5, MPICH's Hydra, srun, jsrun, aprun).
_WITH_VALUE = frozenset(
    {
        "-n", "-np", "-c", "-H", "-host", "--host", "-hostfile", "--hostfile",
        "-machinefile", "--machinefile", "-f", "-x", "-wd", "-wdir", "--wdir", "-npernode",
        "--npernode", "-ppn", "-map-by", "--map-by", "-rank-by", "--rank-by", "-bind-to", "--bind-to",
        "-report-bindings-to", "-output-filename", "--output-filename", "-hosts", "-N", "-p", "-A", "-t",
        "-J", "-w", "-q", "-G", "-a", "-r", "-g", "-d",
        "-S", "-m", "--nodes", "--ntasks", "--cpus-per-task", "--partition", "--account", "--time",
        "--job-name", "--mpi", "--np", "--nrs", "--tasks_per_rs", "--cpu_per_rs", "--gpu_per_rs", "--rs_per_host",
        "--bind", "--launch_distribution", "-b", "-l", "-genvlist",
    }
)  # fmt: skip
_TWO_VALUES = frozenset({"-mca", "--mca", "-gmca", "--gmca", "--prtemca", "--pmixmca", "-genv", "-env"})


def split(command: Sequence[str], is_program: Callable[[str], bool]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(launcher with its options, program with its arguments); no launcher if the command begins with none that is known.

    Values of options are known by their option, else by not being a program, as `is_program` says.
    """
    if not command or PurePath(command[0]).name not in LAUNCHERS:
        return (), tuple(command)
    at = 1 + (PurePath(command[0]).name == "flux")
    while at < len(command):
        word = command[at]
        if word == "--":
            at += 1
            break
        if word in _TWO_VALUES:
            at += 3
        elif word in _WITH_VALUE:
            at += 2
        elif word.startswith("-") or not is_program(word):
            at += 1
        else:
            break
    return (tuple(command[:at]), tuple(command[at:])) if at < len(command) else ((), tuple(command))


#: Options of perf with a value as the next word (perf record -h of perf 6.1), single letters and whole words; words without one.
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
