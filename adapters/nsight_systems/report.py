"""Exports and reports of Nsight Systems as a Profile: one, or those of one job; reports are exported by its own program first."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from shlex import quote
from shutil import which

import numpy as np

from chathpc.adapters.glance import Glance
from chathpc.adapters.nsight_systems import inputs, is_export, is_report
from chathpc.adapters.nsight_systems.assembly import Assembly
from chathpc.adapters.nsight_systems.export import Read, read_export
from chathpc.errors import AdapterError
from chathpc.profile.profile import PROCESSES, Profile, Source
from chathpc.profile.text import clean
from chathpc.profile.timeline import LaneKind

#: Shorter than this, what the GPUs did is a handful of launches, each of which takes some microseconds.
SHORTEST_NS = 1_000_000
NOTHING_RAN = "Nothing ran on the GPU in this capture: no kernel, copy, memset or graph was recorded."


def insufficient(assembly: Assembly) -> str:
    """Why nothing can be concluded; empty otherwise."""
    if not any(lane.device >= 0 and len(lane.start) for lane in assembly.lanes):
        return NOTHING_RAN
    begin, end = assembly.window()
    if end - begin < SHORTEST_NS:
        return (
            f"The GPU's operations span {(end - begin) * 1e-6:.3f} ms: too short for a conclusion about the program. "
            "Record a longer part of the run."
        )
    return ""


def not_collected(assembly: Assembly, version: str) -> Mapping[str, str]:
    """What is missing → the command that would collect it."""
    profile = "nsys profile"
    missing: dict[str, str] = {}
    seen = assembly.seen
    if not {"kernels", "copies", "memsets", "graphs"} & seen:
        missing["GPU kernels and copies"] = f"{profile} --trace=cuda,nvtx,osrt ./app"
    if LaneKind.RANGE not in seen:
        missing["named ranges of the program (NVTX)"] = (
            f"{profile} --trace=cuda,nvtx ./app (with NVTX ranges in the program; Python: torch.autograd.profiler.emit_nvtx())"
        )
    if LaneKind.OS not in seen:
        missing["calls of the operating system that may block"] = f"{profile} --trace=cuda,nvtx,osrt ./app"
    if "samples" not in seen:
        missing["where host threads compute (samples of their stacks)"] = (
            f"{profile} --sample={_sampling(version)} ./app"
        )
    if "CUDA_CALLCHAINS" not in seen:
        missing["which code calls the CUDA runtime (stacks)"] = f"{profile} --cudabacktrace=all ./app"
    if LaneKind.MPI not in seen and len(assembly.processes) > 1:
        missing["calls of MPI"] = f"{profile} --trace=cuda,nvtx,osrt,mpi ./app"
    if "copies" in seen and "memory kinds" not in seen:
        missing["whether host memory of copies is pinned"] = (
            f"{profile} --trace=cuda ./app (Nsight Systems 2022 or newer)"
        )
    missing["why kernels take their time (counters)"] = "ncu --set full -o report ./app"
    return missing


def _sampling(version: str) -> str:
    """The option's value: up to 2022.1 there was `cpu` only."""
    return "cpu" if version.startswith(("2018.", "2019.", "2020.", "2021.", "2022.1")) else "process-tree"


#: Exports that begin further apart than this, in nanoseconds, are not of one run.
ONE_RUN = 24 * 3600 * 10**9
NO_CLOCK = "The exports do not record when their sessions began: their times cannot be compared, and all are assumed to begin together."
APART = "The sessions of the exports began more than a day apart: they are unlikely to be from one run, and are not compared in time."


def read_job(exports: Sequence[Path], *, title: str = "", more: Sequence[str] = ()) -> Profile:
    """The profile of some exports; `more` are further caveats. AdapterError for damage."""
    assembly = Assembly()
    done: list[Read] = []
    edges: list[tuple[int, int]] = []
    for path in exports:
        first = len(assembly.lanes)
        done.append(read_export(path, assembly, several=len(exports) > 1))
        edges.append((first, len(assembly.lanes)))
    if len(done) > 1:
        _align(assembly, done, edges)
    version = next((read.version for read in done if read.version), "")
    programs = tuple(dict.fromkeys(name for read in done for name in read.programs))
    tree, final, values, metrics = assembly.finish()
    begin, end = assembly.recorded()
    short = ".".join(version.split(".")[:2])
    return Profile(
        format=f"Nsight Systems {short}".rstrip(),
        title=title or ", ".join(programs[:3]) or exports[0].stem,
        tree=tree,
        metrics=metrics,
        values=values,
        where=assembly.where(),
        sources=tuple(Source(read.path, "Nsight Systems", read.version) for read in done),
        caveats=(*more, *(sentence.replace("{}", f"{count:,}") for sentence, count in assembly.caveats.items())),
        not_collected=not_collected(assembly, version),
        run={"recorded": f"{(end - begin) * 1e-9:.6g} s", PROCESSES: str(len(assembly.processes))},
        hardware={f"GPU {ordinal}": device.name for ordinal, device in sorted(assembly.devices.items())},
        timed=True,
        insufficient=insufficient(assembly),
        devices=dict(sorted(assembly.devices.items())),
        read_timeline=assembly.timeline(final),
    )


def _align(assembly: Assembly, done: Sequence[Read], edges: Sequence[tuple[int, int]]) -> None:
    """Bring the lanes of all exports to one clock: that of the first."""
    epochs = [read.epoch for read in done]
    known = [epoch for epoch in epochs if epoch is not None]
    if len(known) == len(epochs) and max(known) - min(known) <= ONE_RUN:
        shifts = [epoch - known[0] for epoch in known]
    else:
        assembly.note(NO_CLOCK if len(known) < len(epochs) else APART)
        begins = [_begin(assembly, first, last) for first, last in edges]
        shifts = [begins[0] - begin for begin in begins]
    for shift, (first, last) in zip(shifts, edges, strict=True):
        for lane in assembly.lanes[first:last]:
            np.add(lane.start, shift, out=lane.start)
            np.add(lane.end, shift, out=lane.end)


def _begin(assembly: Assembly, first: int, last: int) -> int:
    return min((int(lane.start[0]) for lane in assembly.lanes[first:last] if len(lane.start)), default=0)


#: Seconds that an export may take at least, and what each byte of the report adds (a gigabyte takes some minutes).
SECONDS, SECONDS_PER_BYTE = 120.0, 1 / 1e6
#: The export of a report is younger than it; file systems of clusters keep times to about a second.
SLACK_SECONDS = 2.0


def read(path: Path) -> Profile:
    """The profile of an export, a report or the exports and reports of one job in a folder; AdapterError for damage."""
    glance = Glance(path)
    with ExitStack() as stack:
        if glance.is_folder:
            exports, words = _of_folder(path, inputs(glance), stack)
            return read_job(exports, title=path.resolve().name if len(exports) > 1 else "", more=words)
        if is_report(glance):
            export, words = sqlite_of(path, stack)
            return read_job([export], more=words)
        return read_job([path])


def _of_folder(path: Path, found: list[Path], stack: ExitStack) -> tuple[list[Path], list[str]]:
    """The exports to read: those in the folder, and of each report that has none beside it one that is made."""
    reports = [file for file in found if is_report(Glance(file))]
    exports = {file: None for file in found if file not in reports}
    words: list[str] = []
    for report in reports:
        export, more = sqlite_of(report, stack)
        exports.pop(_beside(report), None)
        exports[export] = None
        words += more
    if not exports:
        raise AdapterError(
            "no report or export of Nsight Systems is in the folder", path=path, hint="Give the folder with them."
        )
    return list(exports), words


def sqlite_of(report: Path, stack: ExitStack) -> tuple[Path, list[str]]:
    """An export of `report`, and what to say about it: the one beside it if it is younger, else one that nsys makes.

    What is made lives as long as `stack`. AdapterError, with the command, if there is no way.
    """
    beside = _beside(report)
    stale = False
    if is_export(Glance(beside)):
        stale = beside.stat().st_mtime + SLACK_SECONDS < report.stat().st_mtime
        if not stale:
            return beside, [f"Read from {clean(beside.name)}, the export found next to {clean(report.name)}."]
    program = which("nsys")
    if program is None:
        why = f"; {clean(beside.name)} beside it is older than the report and is not used" if stale else ""
        raise AdapterError(
            f"a report of Nsight Systems, which only its own program 'nsys' can read, and that is not on the PATH{why}",
            path=report,
            hint=f"Export it where Nsight Systems is installed, then give the .sqlite file: {command(report)}",
        )
    made = _export(program, report, stack)
    words = [
        f"{clean(beside.name)} beside the report is older than it and was not used; the report was exported again."
    ]
    return made, words if stale else []


def command(report: Path) -> str:
    """The command that exports `report`, as a user types it."""
    return f"nsys export --type=sqlite --force-overwrite=true --output={quote(clean(str(_beside(report))))} {quote(clean(str(report)))}"


def _beside(report: Path) -> Path:
    return report.with_suffix(".sqlite")


def _export(program: str, report: Path, stack: ExitStack) -> Path:
    """Run `nsys export` into a temporary folder; it can end with 0 without having written anything."""
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="chathpc-nsys-")))
    made = folder / "report.sqlite"
    seconds = SECONDS + report.stat().st_size * SECONDS_PER_BYTE
    arguments = [
        program, "export", "--type=sqlite", "--force-overwrite=true", f"--output={made}", str(report.resolve()),
    ]  # fmt: skip
    hint = f"Run it manually, then pass the .sqlite file: {command(report)}"
    try:
        done = subprocess.run(
            arguments, stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds, cwd=folder, check=False
        )
    except subprocess.TimeoutExpired:
        raise AdapterError(f"'nsys export' took more than {seconds:.0f} s", path=report, hint=hint) from None
    except OSError as error:
        raise AdapterError(f"'nsys' cannot be run: {error.strerror}", path=report, hint=hint) from None
    if not is_export(Glance(made)):
        said = clean(" ".join((done.stderr or done.stdout).decode("utf-8", "replace").split()))[:300]
        raise AdapterError(
            f"'nsys export' wrote no export (it ended with {done.returncode}){': ' + said if said else ''}",
            path=report,
            hint=hint,
        )
    return made
