"""What kernels of a program will do on a device: build → disassemble → lower → run → counts → roofline → time, in that order."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from chathpc.errors import ChathpcError, UsageError
from chathpc.predict.alone import Parameter, described, parameters, refuse_impossible
from chathpc.predict.counts import Counts, Launch
from chathpc.predict.devices import Device
from chathpc.predict.emulation import Followed
from chathpc.predict.kernel_time import Time, predict_time
from chathpc.predict.lowering import Lowered
from chathpc.predict.open_values import Estimate, Gap, OpenValue
from chathpc.predict.program import Asked, Prepared, Program, follow, listed, matching, prepare, title
from chathpc.predict.recipe import arguments_of_makefile
from chathpc.predict.record import LineRecord
from chathpc.predict.roofline import Roofline, classify
from chathpc.predict.warp_chain import chain
from chathpc.profile.text import clean
from chathpc.sandbox.contract import Completed, Sandbox

Tell = Callable[[str], None]
#: Source lines that are kept, and characters of each.
_LINES, _LONGEST = 8, 100
#: Longest output of the program that an error shows (characters).
_SHOWN = 300
_ARGUMENT = re.compile(r"\bargv\s*\[\s*(\d+)\s*\]")


class NotLaunchedError(ChathpcError):
    """The program ended, or was ended, before it launched the kernel."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """One launch on one device. `tools`: what compiled the program, with versions; `architecture`: what for."""

    kernel: str
    mangled: str
    launch: Launch
    counts: Counts
    roofline: Roofline
    time: Time
    lines: tuple[LineRecord, ...]
    assumptions: tuple[str, ...]
    device: Device
    architecture: str
    tools: Mapping[str, str]


def predict(
    program: Program,
    asked: Asked,
    *,
    device: Device,
    work: Path,
    sandbox: Sandbox,
    estimate: Estimate | None = None,
    progress: Tell = lambda stage: None,
) -> tuple[Prediction, ...]:
    """The launches that were asked for, the longest first. Everything is written below `work`; the program's host part runs in `sandbox`.

    Errors: UsageError, BuildError, ToolkitMissingError, NotLaunchedError.
    """
    if not device.gpu:
        raise UsageError(
            f"Kernels are predicted for GPUs, and {device.name} is none.", hint="Name one: --device rtx3080"
        )
    progress("compiling the program")
    prepared = prepare(program, work, device)
    kernels = prepared.lowered.kernels
    # An only kernel is as good as named: the program then ends where that was followed.
    chosen = matching(asked.kernel, kernels) if asked.kernel is not None else kernels[0] if len(kernels) == 1 else None
    arguments, assumed = _arguments(program, prepared, asked, estimate)
    if prepared.alone:
        if chosen is None:
            raise UsageError(
                f"There are {len(kernels)} kernels and no main.", hint=f"Name one as --kernel: {listed(kernels)}"
            )
        assumed += _describe(prepared, chosen, asked, device, estimate)
    elif asked.values or asked.shared:
        raise UsageError(
            "The program has a main, which gives its kernels their parameters and shared memory.",
            hint="Give the program's arguments (--args), or a source without main.",
        )
    progress("following its launches")
    wanted = replace(asked, grid=None, block=None) if prepared.alone else asked
    kernels = ("*",) if chosen is None else (chosen,)
    found, missing, done = follow(prepared, arguments, kernels, wanted, device, sandbox)
    launches = found if chosen is None else _chosen(found, asked)
    if not launches:
        raise _not_launched(done, asked, prepared)
    progress("computing")
    assumed += _about_run(done, missing, prepared, device)
    made = [_prediction(each, prepared, device, assumed) for each in launches]
    return tuple(sorted(made, key=lambda each: -each.time.seconds.value))


def _prediction(one: Followed, prepared: Prepared, device: Device, assumed: Sequence[str]) -> Prediction:
    launch = replace(one.launch, kernel=title(one.launch.kernel))
    lowered = prepared.lowered
    warps = ((line, one.warps_by_instruction.get(number, 0.0)) for number, line in lowered.instructions())
    time = predict_time(one.counts, launch, device, chain(warps))
    return Prediction(
        kernel=launch.kernel, mangled=one.launch.kernel, launch=launch, counts=one.counts, roofline=classify(one.counts, device),
        time=time, lines=_hot_lines(one.by_instruction, lowered, prepared.sources),
        assumptions=tuple(dict.fromkeys((*one.counts.assumptions, *assumed))), device=device, architecture=prepared.architecture,
        tools=prepared.tools,
    )  # fmt: skip


def _chosen(found: Sequence[Followed], asked: Asked) -> list[Followed]:
    """The launch that was asked for, which is the last that was followed."""
    return [
        each
        for each in found[-1:]
        if asked.grid in (None, each.launch.grid)
        and asked.block in (None, each.launch.block)
        and each.launch.occurrence >= asked.occurrence
    ]


def _hot_lines(counts: Mapping[int, float], lowered: Lowered, sources: Sequence[Path]) -> tuple[LineRecord, ...]:
    by_line: dict[tuple[str, int], float] = {}
    total = sum(counts.values())
    own = {str(path.parent) for path in sources}
    for number, line in lowered.instructions():
        if line.line > 0 and number in counts:
            # Of inlined code of a library the line of the program that it is for.
            places = [(line.file, line.line), *line.callers]
            place = next((each for each in places if str(Path(each[0]).parent) in own), places[0])
            by_line[place] = by_line.get(place, 0.0) + counts[number]
    hot = sorted(by_line, key=lambda place: -by_line[place])[:_LINES]
    return tuple(
        LineRecord(file=Path(file).name, line=line, share=by_line[file, line] / total, text=_text(Path(file), line))
        for file, line in hot
    )


def _text(path: Path, line: int) -> str:
    try:
        lines = path.read_text("utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    return clean(" ".join(lines[line - 1].split()))[:_LONGEST] if line <= len(lines) else ""


# -- What the user did not say ---------------------------------------------------------------------------------------


def _arguments(
    program: Program, prepared: Prepared, asked: Asked, estimate: Estimate | None
) -> tuple[tuple[str, ...], list[str]]:
    """The program's arguments: as given, as the Makefile runs it, as a model estimates them; none."""
    if asked.arguments is not None or prepared.alone:
        return asked.arguments or (), []
    if program.folder is not None and (runs := arguments_of_makefile(program.folder)):
        said = " ".join(runs[0]) or "none"
        return runs[0], [f"The program's arguments are those of `make run`: {clean(said)}."]
    if estimate is None:
        return (), []
    found: dict[int, OpenValue | None] = {}
    for path in prepared.sources:
        lines = list(enumerate(path.read_text("utf-8", errors="replace").splitlines(), 1))
        for number, line in lines:
            for match in _ARGUMENT.finditer(line):
                if (place := int(match[1])) and place not in found:
                    gap = Gap(f"argument {place} of the program", path.name, number, "typical run")
                    found[place] = estimate(gap, lines)
    values = [found.get(place) for place in range(1, max(found, default=0) + 1)]
    known = values[: values.index(None)] if None in values else values
    return tuple(f"{each.estimate.value:.0f}" for each in known if each), [each.assumption() for each in known if each]


def _describe(prepared: Prepared, chosen: str, asked: Asked, device: Device, estimate: Estimate | None) -> list[str]:
    """Write the launch of a kernel without a host program; what had to be assumed."""
    if asked.occurrence:
        raise UsageError("A kernel without a main is launched once.", hint="Omit --launch.")
    grid, block = asked.grid or asked.alone_grid, asked.block or asked.alone_block
    if grid is None or block is None:
        raise UsageError(
            f"There is no main that launches {title(chosen)}.",
            hint="Say how it is launched: --grid X,Y,Z --block X,Y,Z --param NAME=VALUE",
        )
    kernel = prepared.kernels[chosen]
    refuse_impossible(grid, block, kernel.shared + asked.shared, device)
    known = parameters(chosen, kernel, prepared.sources)
    given, assumed = dict(asked.values), []
    for each in known:
        if estimate is not None and each.name not in given and not each.pointer and not each.real and each.line:
            found = estimate(
                Gap(each.name, each.file, each.line, f"grid {grid}, block {block}"),
                _around(each, prepared.sources),
            )
            if found is not None:
                given[each.name] = f"{found.estimate.value:.0f}"
                assumed.append(found.assumption())
    told = described(chosen, known, given, grid, block, asked.shared)
    (prepared.work / "alone").write_text(told.text, "utf-8")
    return [*assumed, *told.assumptions]


def _around(parameter: Parameter, sources: Sequence[Path]) -> list[tuple[int, str]]:
    path = next(each for each in sources if each.name == parameter.file)
    return list(enumerate(path.read_text("utf-8", errors="replace").splitlines(), 1))


def _about_run(done: Completed, missing: Sequence[str], prepared: Prepared, device: Device) -> list[str]:
    found = []
    if done.status == "timed-out":
        found.append(f"The program was stopped after {done.seconds:.0f} s: what it launches later is not here.")
    if missing:
        found.append(
            f"The program calls {', '.join(missing[:5])}{' and more' if len(missing) > 5 else ''}, which did nothing."
        )
    if prepared.lowered.unknown:
        found.append(f"Instructions that are not known do nothing: {', '.join(sorted(prepared.lowered.unknown)[:8])}.")
    if device.architecture != prepared.architecture:
        same = device.architecture.startswith("sm_")
        other = (
            f"the compiler's for {device.name} differs somewhat"
            if same
            else f"{device.name} runs other code: a rough guess"
        )
        found.append(f"The machine code is that for {prepared.architecture}; {other}.")
    return found


def _not_launched(done: Completed, asked: Asked, prepared: Prepared) -> ChathpcError:
    """Why there is nothing to predict, and what to do."""
    what = "a kernel" if asked.kernel is None else asked.kernel
    sizes = (("grid", asked.grid), ("block", asked.block))
    shape = " and ".join(f"{name} {' x '.join(map(str, size))}" for name, size in sizes if size)
    shape = f" with {shape}" if shape else ""
    if asked.occurrence:
        shape += f" {asked.occurrence + 1} times"
    how = "was stopped" if done.status != "exited" else f"ended with status {done.code}" if done.code else "ended"
    words = (done.stderr.strip() or done.stdout.strip()).decode("utf-8", "replace").splitlines()
    last = clean(" ".join(words[-2:])).replace(str(prepared.built.executable), "program")
    said = f" It said: {last[-_SHOWN:]}" if words else ""
    if done.status == "timed-out":
        hint = f"It ran for {done.seconds:.0f} s: give arguments by which it gets there sooner."
    elif done.code and not asked.arguments:
        hint = 'Give its arguments: --args "…"'
    elif re.search("open|file|input", said, re.IGNORECASE) and done.code:
        hint = "It sees the folder of its source: put what it reads there, and name it in --args from there."
    else:
        names = ", ".join(sorted({title(each) for each in prepared.lowered.kernels})[:8])
        hint = f"Kernels that it has: {names}."
    return NotLaunchedError(f"The program {how} without launching {what}{shape}.{said}", hint=hint)
