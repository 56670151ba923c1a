"""Linux perf: samples of CPU time and of context switches with call paths, as the text of perf script."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import ClassVar
from zlib import crc32

from chathpc.adapters.linux_perf import addr2line, annotate, images, switches
from chathpc.measure.files import fresh_folder, put, remove
from chathpc.measure.machine import facts
from chathpc.measure.profiler import (
    ENOUGH,
    FEWEST,
    HIGHEST,
    HIGHEST_WAITING,
    LOWEST,
    Do,
    NoSampleError,
    Plan,
    Profiler,
    ProfilerError,
    by_rank,
    kernel_limit,
    per_rank,
    reason,
)
from chathpc.measure.record import Tool

#: Of a sample, so that the adapter gets all that it reads (perf-script(1), -F).
FIELDS = "comm,pid,tid,time,period,event,ip,sym,dso,srcline"
#: Bytes of the stack that a sample keeps to be unwound later: perf's own default (perf-record(1), --call-graph).
STACK = 8192
#: Samples a second and thread with such pieces: 8 MB/s of data.
_HIGHEST_WITH_STACK = 1_000
#: CPU time is measured always, where threads give up their cores, and where the kernel gives them memory; counters tell what the time is
#: spent on. Users without rights get no samples of switches, as these happen in the kernel, but its records of them (--switch-events).
_TIME, _SWITCHES, _FAULTS = "cpu-clock", "context-switches", "page-faults"
_COUNTERS = ("cycles", "instructions", "cache-misses")
#: Faults are counted, a sample for each thousand, which take the kernel about a millisecond (terms: perf-list(1)): at a rate their number
#: is a guess of the kernel's, seven times too many in runs of a second.
_TERMS = {_FAULTS: f"{_FAULTS}/period=1000,name={_FAULTS}/"}
#: When a program begins and a thread ends, as perf script --show-task-events writes it.
_TASK = re.compile(r" (\d+\.\d+): PERF_RECORD_(COMM exec|EXIT)\b")
#: No configuration of the user's, no downloads of debug information, no pager.
_QUIET = {"PERF_CONFIG": os.devnull, "DEBUGINFOD_URLS": "", "PAGER": "cat", "LC_ALL": "C"}
#: In so many seconds it tells the machine code or nothing, where the system can end it.
_BOUNDED = f'command -v timeout >/dev/null && set -- timeout {annotate.LIMIT} "$@"; exec "$@" 2>/dev/null'
_RANK, _HOST, _DIGITS = re.compile(r"perf\.(\d{1,9})\.data"), re.compile(rb"^# hostname : ([^.\s]+)", re.MULTILINE), 9
_PARANOID = Path("/proc/sys/kernel/perf_event_paranoid")


class Perf(Profiler):
    """Linux perf."""

    name: ClassVar[Tool] = "perf"
    command = "perf"
    missing = (
        "perf is not installed (package linux-perf on Debian, linux-tools-common on Ubuntu, perf on Red Hat and SUSE)"
    )

    def __init__(self) -> None:
        self._counters = False

    def lacks(self, environment: Mapping[str, str]) -> str:
        """Whether perf is there, and the kernel lets it measure."""
        if lack := super().lacks(environment):
            return lack
        if _paranoid() > 2 and os.geteuid() != 0:
            return (
                f"the kernel forbids perf to users (kernel.perf_event_paranoid is {_paranoid()}); "
                "as root: sysctl kernel.perf_event_paranoid=2"
            )
        return ""

    def prepare(self, plan: Plan, do: Do) -> Plan:
        """Looks for hardware counters, which virtual machines seldom have, and for the kernel's limit."""
        probe = do("look for counters", (plan.tool("perf"), "stat", "-x,", "-e", _COUNTERS[0], "true"), _QUIET)
        said = probe.stderr.decode("utf-8", "replace")
        self._counters = probe.succeeded and any(line.split(",")[0].isdigit() for line in said.splitlines())
        # A rate above the usual ones is that of a program that hardly computes, and so leaves few samples.
        highest = HIGHEST_WAITING if plan.rate >= HIGHEST else HIGHEST
        if highest == HIGHEST and not plan.binary.frame_pointers:
            highest = _HIGHEST_WITH_STACK
        return replace(plan, rate=max(min(plan.rate, kernel_limit() - 1, highest - 1), LOWEST))

    def events(self, plan: Plan) -> tuple[str, ...]:
        """CPU time, context switches, page faults, and counters where there are some."""
        return (_TIME, _SWITCHES, _FAULTS, *(_COUNTERS if self._counters else ()))

    def ran(self, plan: Plan, do: Do) -> float | None:
        """From the program's start to its end as the kernel told perf, which itself reads symbols of the kernel before and after: a second
        or more on some machines. Of a launcher's programs that is not all.
        """
        if plan.launcher:
            return None
        file, text = plan.work / "perf.data", plan.work / "times.txt"
        script = (plan.tool("perf"), "script", "--show-task-events", "-F", "pid,time", "-i", str(file))
        done = do("perf script", ("sh", "-c", 'exec "$@" > "$0"', str(text), *script), _QUIET)
        if not done.succeeded:
            return None
        with text.open(encoding="utf-8", errors="replace") as lines:
            told = [match.groups() for match in map(_TASK.search, lines) if match is not None]
        text.unlink()
        begun = [float(at) for at, what in told if what == "COMM exec"]
        ended = [float(at) for at, what in told if what == "EXIT"]
        return max(ended) - min(begun) if begun and ended else None

    def record(self, plan: Plan) -> tuple[str, ...]:
        """The command of perf record, one file a rank behind a launcher. Frame pointers are followed where the program keeps them: that costs
        less; else a piece of the stack is kept and unwound by the tables of debug information.
        """
        graph = "fp" if plan.binary.frame_pointers else f"dwarf,{STACK}"
        events = (word for event in self.events(plan) for word in ("-e", _TERMS.get(event, event)))
        how = ("-q", "-N", "--switch-events", "-F", str(plan.rate), "--call-graph", graph)
        return per_rank(plan, (plan.tool("perf"), "record", *how, *events, "-o"), "perf", ".data", ("--",))

    def files(self, plan: Plan) -> list[Path]:
        """Samples, by rank."""
        return by_rank(plan.work.glob("perf*.data"))

    def finish(self, plan: Plan, do: Do, version: str) -> Path:
        """The text of perf script of all ranks in their order, with source lines if they are found in reasonable time."""
        for earlier in plan.work.glob("perf*.data.old"):  # perf keeps what it would overwrite
            remove(earlier)
        folder = fresh_folder(plan.work / "profile")
        text = folder / "perf.txt"
        header = _header(version.removeprefix("perf version "))
        marks = {file: _marks(plan, file, do) if plan.launcher else b"" for file in self.files(plan)}
        for file in marks:
            images.forget(file)
        lines = {
            **_QUIET,
            **addr2line.placed(fresh_folder(plan.work / "lines"), plan.environment.get("PATH", os.defpath)),
        }
        lost = "--show-lost-events"  # not before perf 4.16
        for how in (
            (lost, "-F", FIELDS),
            (lost, "--no-inline", "-F", FIELDS.removesuffix(",srcline")),
            ("--no-inline",),
            (),
        ):
            put(text, header.encode())
            for file, mark in marks.items():
                with text.open("ab") as more:
                    more.write(mark)
                # By its name alone: the folder of a whole path would stand before ours where perf looks for addr2line.
                words = ("perf", "script", "--show-switch-events", "--show-task-events", *how, "-i", str(file))
                # The program that perf asks for lines ends at a file that is none (//anon); writing to it must not end perf.
                done = do("perf script", ("sh", "-c", 'trap "" PIPE; exec "$@" >> "$0"', str(text), *words), lines)
                if not done.succeeded:
                    break
            else:
                break
        else:
            raise ProfilerError(f"perf script failed: {reason(done)}")
        switches.bound(text)
        if next(_samples(text), None) is None:
            raise NoSampleError("no sample was taken: the program used too little CPU time")
        # Where it fails nothing is missing but what the machine code says. Of ranks the one with most samples stands for all.
        largest = max(self.files(plan), key=lambda file: file.stat().st_size)
        words = (plan.tool("perf"), *annotate.OPTIONS, "-i", str(largest))
        done = do("perf annotate", ("sh", "-c", _BOUNDED, "sh", *words), _QUIET)
        with text.open("a", encoding="utf-8") as code:
            code.writelines(f"{line}\n" for line in annotate.comments(done.stdout))
        return text

    def again(self, plan: Plan, path: Path) -> Plan | None:
        """More often, where there are fewer than FEWEST samples: of what a program does in the kernel users without rights get none."""
        samples = sum(1 for _ in _samples(path))
        rate = min(HIGHEST_WAITING, kernel_limit()) - 1
        if samples >= FEWEST or rate <= plan.rate:
            return None
        return replace(plan, rate=min(rate, plan.rate * ENOUGH // max(samples, 1)) | 1)

    def version(self, plan: Plan, do: Do) -> str:
        """As `perf --version` tells it."""
        said = do("perf --version", (plan.tool("perf"), "--version"), _QUIET)
        return said.stdout[:200].decode("utf-8", "replace").strip()


def _header(version: str) -> str:
    """The lines of `perf script --header` that the adapter reads, without those that name the machine and the user's command."""
    machine = facts()
    memory = f"{int(machine['memory']) // 1024} kB" if "memory" in machine else ""
    rows = {
        "perf version": version,
        "arch": machine.get("architecture", ""),
        "cpudesc": machine.get("processor", ""),
        "nrcpus online": machine.get("cores", ""),
        "total memory": memory,
    }
    return "".join(f"# {key} : {value}\n" for key, value in rows.items() if value)


def _marks(plan: Plan, file: Path, do: Do) -> bytes:
    """Comments that tell the adapter the rank and the node of the samples behind them: the node by the digits of its name, as ids of
    processes are only different on one node.
    """
    done = do("perf script", (plan.tool("perf"), "script", "--header-only", "-i", str(file)), _QUIET)
    rank, host = _RANK.fullmatch(file.name), _HOST.search(done.stdout)
    if rank is None:
        return b""
    digits = b"" if host is None else b"".join(re.findall(rb"\d", host[1]))[-_DIGITS:]
    node = b"" if host is None else b"# node : %d\n" % (int(digits) if digits else crc32(host[1]) % 10**_DIGITS)
    return b"# rank : %s\n%s" % (rank[1].encode(), node)


def _samples(text: Path) -> Iterator[str]:
    """The first lines of the samples of CPU time in the text of perf script."""
    with text.open(encoding="utf-8", errors="replace") as lines:
        yield from (line for line in lines if f" {_TIME}:" in line)


def _paranoid() -> int:
    try:
        return int(_PARANOID.read_text())
    except (OSError, ValueError):
        return 0
