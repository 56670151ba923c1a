"""Options of the tools that commands are printed for, as their makers document them, and a reader of such commands."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import PurePath


@dataclass(frozen=True)
class Tool:
    """Options of a tool, those with a value and those without, and where they are documented.

    `then` is what stands behind the options: "program" a command of its own, "files" names of files or nothing.
    """

    source: str
    values: str = ""
    flags: str = ""
    then: str = "program"


_PERF = "perf-{}(1), tools/perf/Documentation of Linux 6.1"
TOOLS = {
    "perf record": Tool(_PERF.format("record"), "-e -F -o --call-graph", "-g --switch-events"),
    "perf stat": Tool(_PERF.format("stat"), "-e -x -o", ""),
    "perf trace": Tool(_PERF.format("trace"), "", "-s"),
    "perf c2c record": Tool(_PERF.format("c2c"), "-e", ""),
    "perf c2c report": Tool(_PERF.format("c2c"), "", "", "files"),
    "perf report": Tool(_PERF.format("report"), "--symbol-filter", "--no-children", "files"),
    "perf annotate": Tool(_PERF.format("annotate"), "-s", "--stdio", "files"),
    "perf script": Tool(_PERF.format("script"), "-F -i", "--header --show-switch-events --show-lost-events", "files"),
    "valgrind": Tool("Valgrind User Manual 3.19, 2.6, 4.3 and 6.4", "--tool --leak-check --cache-sim", ""),
    "strace": Tool("strace(1) 6.1", "-e", "-c -f -w"),
    "readelf": Tool("readelf(1) of binutils 2.40", "--debug-dump --dwarf-depth", "", "files"),
    "grep": Tool("POSIX and GNU grep(1)", "-A", "", "files"),
    "gprof": Tool("gprof(1) of binutils 2.40", "", "", "files"),
    "nproc": Tool("nproc(1) of coreutils", "", "", "files"),
    "hpcrun": Tool("hpcrun(1), HPCToolkit User's Manual 2024, 5.2", "-e -o", "-t"),
    "hpcstruct": Tool("hpcstruct(1), HPCToolkit User's Manual 2024", "-j -o", "", "files"),
    "hpcprof": Tool("hpcprof(1), HPCToolkit User's Manual 2024", "-j -o", "", "files"),
    "nsys profile": Tool(
        "Nsight Systems User Guide 2025, CLI Profile Command Switch Options",
        "--trace --sample --stats --cudabacktrace --cuda-um-cpu-page-faults --cuda-um-gpu-page-faults --cuda-graph-trace -o", "",
    ),
    "nsys analyze": Tool("Nsight Systems User Guide 2025, CLI Analyze Command Switch Options", "-r", "", "files"),
    "nsys export": Tool("Nsight Systems User Guide 2025, CLI Export Command Switch Options", "--type", "", "files"),
    "nsys stats": Tool("Nsight Systems User Guide 2025, CLI Stats Command Switch Options", "--report --format", "", "files"),
    "ncu": Tool(
        "Nsight Compute CLI 2025, Command Line Options",
        "--set --section -k --kernel-name-base -c -o --import-source --metrics", "",
    ),
    "cuobjdump": Tool("CUDA Binary Utilities 12, cuobjdump", "", "--dump-resource-usage", "files"),
    "rocprofv3": Tool("ROCprofiler-SDK documentation, Using rocprofv3", "--output-format", "--sys-trace"),
    "rocprof-compute profile": Tool("ROCm Compute Profiler documentation, Profile mode", "-n -k", ""),
    "vtune": Tool("Intel VTune Profiler User Guide 2024, vtune Command Options", "-collect -knob", ""),
    "likwid-perfctr": Tool("likwid-perfctr(1), LIKWID 5", "-C -g", ""),
    "likwid-mpirun": Tool("LIKWID wiki, Likwid-Mpirun", "-np -g", ""),
    "scalasca": Tool("Scalasca 2.6 User Guide, 3", "", "-analyze -t"),
    "scan": Tool("Scalasca 2.6 User Guide, 3", "", "-t"),
    "scorep": Tool("Score-P User Manual 8, 3.1", "", ""),
    "tau_exec": Tool("TAU Reference Guide, tau_exec", "", "-ebs"),
    "neutrino": Tool("README of open-neutrino/neutrino", "-t", ""),
    "py-spy record": Tool("README of benfred/py-spy", "-f -o", "--native --gil --subprocesses"),
    **dict.fromkeys(
        ("all_reduce_perf", "all_gather_perf", "reduce_scatter_perf", "broadcast_perf", "alltoall_perf"),
        Tool("README of NVIDIA/nccl-tests", "-b -e -f -g", "", "files"),
    ),
    "torchrun": Tool("PyTorch documentation, torchrun", "--nproc-per-node", "--no-python"),
    "mpirun": Tool("mpirun(1), Open MPI 4 and 5; MPICH takes -n and -np too", "-n -np", ""),
    "env": Tool("env(1), POSIX", "", ""),
    "python -m pyinstrument": Tool("pyinstrument documentation, command line", "-r -o", "", "files"),
    "python -m cProfile": Tool("Python documentation, The Python Profilers", "-s", "", "files"),
    "python": Tool("python -h; Python documentation, Command line and environment", "-m", "", "files"),
    "chathpc explain": Tool("docs/cli.md", "--llm --source", "", "files"),
    "chathpc measure": Tool("docs/cli.md", "--vary", ""),
    "mpicc": Tool("gcc(1)", "-o", "-c", "files"),
}  # fmt: skip
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")


def wrong(command: str) -> str:
    """What does not parse in a printed command, up to a sentence in parentheses behind it; empty if all does."""
    if "…" in command or "\n" in command or not command.isprintable():
        return "cannot be pasted"
    for each in re.split(r"; | \| ", command.partition(" (")[0]):
        try:
            words = shlex.split(each.partition(" > ")[0])
        except ValueError as error:
            return str(error)
        fault = _wrong(words)
        if fault:
            return f"{each}: {fault}"
    return ""


def _wrong(words: list[str]) -> str:
    while words and _ASSIGNMENT.match(words[0]):
        words = words[1:]
    if not words:
        return "no program"
    name = next((" ".join(words[:n]) for n in (3, 2, 1) if " ".join(words[:n]) in TOOLS), "")
    if not name:
        known = {tool.split()[0] for tool in TOOLS}
        return "an unknown tool" if words[0] in known or re.fullmatch(r"[A-Z_]+", words[0]) else ""
    tool, rest = TOOLS[name], words[len(name.split()) :]
    while rest and rest[0].startswith("-"):
        word, *rest = rest
        if word == "--":
            break
        option, equals, _ = word.partition("=")
        if option in tool.values.split():
            rest = rest if equals else rest[1:]
        elif re.fullmatch(r"-[A-Za-z]+", word) and all(f"-{letter}" in tool.flags.split() for letter in word[1:]):
            pass
        elif word not in tool.flags.split() and word[:2] not in tool.values.split():
            return f"{name} documents no {word}"
    if name == "env" or tool.then == "program":
        return _wrong(rest)
    return ""


def is_command(text: str) -> bool:
    """True if a text begins as a command does, not as a sentence."""
    words = [word for word in text.split() if not _ASSIGNMENT.match(word)]
    names = {tool.split()[0] for tool in TOOLS}
    return bool(words) and (PurePath(words[0]).name in names or words[0].startswith("./"))
