"""Find the adapter that can read a path, by content, and read it."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from itertools import combinations, islice
from pathlib import Path

import numpy as np

from chathpc.adapters.adapter import Adapter
from chathpc.adapters.content import same_bytes
from chathpc.adapters.glance import Glance
from chathpc.adapters.packed import packing_of, plain_file, unreadable
from chathpc.errors import AdapterError, ChathpcError, UsageError
from chathpc.profile.compiler import Build
from chathpc.profile.profile import RANKS_ADDED, Profile
from chathpc.profile.run import (
    EXIT_CODE,
    LAST_CACHE,
    NO_COUNTERS,
    OVERHEAD,
    PAGE_FAULT,
    PEAK_MEMORY,
    PRODUCERS,
    told_command,
)
from chathpc.profile.source_text import beside, check_named, no_source
from chathpc.profile.text import clean

#: Asked before the installed adapters are looked up, which takes as long as reading a database of 10,000 contexts.
FIRST = ("chathpc.adapters.hpctoolkit", "chathpc.adapters.hpctoolkit_v3")


#: Files of a folder that are looked at for a hint.
_LOOKED = 16
#: What to do where nothing better is known.
KNOWN = "Supported formats: chathpc adapters list"


def load(path: str | Path, *more: str | Path, format: str | None = None, source: Sequence[str | Path] = ()) -> Profile:
    """Read the profile at `path`, whatever known format it is in; several paths are views of one run and are joined. Of a folder that
    `chathpc measure` wrote it is the profile in it.

    `format` names an adapter and skips detection; `source` are folders with source that the profile did not bring. AdapterError for
    anything that cannot be read; UsageError for an unknown `format`, a path that is given twice, and a `source` that is no folder.
    """
    if source:
        check_named(folders := [Path(folder) for folder in source])
        return load(path, *more, format=format).with_sources(folders)
    if more:
        from chathpc.profile.merge import merge

        places = [Path(one) for one in (path, *more)]
        refuse_repeated(places)
        views = [load(place, format=format) for place in places]
        refuse_same(places, views)
        _refuse_runs(places, views)
        return merge(views)
    place = Path(path)
    _look(place)
    glance = Glance(place)
    adapter = detect(glance) if format is None else named(format)
    if packing_of(glance.head) is not None and (adapter is None or not adapter.recognises(glance)):
        return _read_packed(adapter, place)
    if adapter is None and place.is_dir():
        measured = _measured(place)
        if measured is not None:
            adapter, place = detect(Glance(measured[0])), measured[0]
    if adapter is None:
        raise _unknown(place, glance)
    return _read(adapter, place, place)


def refuse_repeated(places: list[Path]) -> None:
    """UsageError if two of the paths are one."""
    seen: set[str] = set()
    for place in places:
        real = os.path.realpath(place)
        if real in seen:
            raise UsageError(f"{clean(str(place))} is given twice.", hint="Give each profile once.")
        seen.add(real)


def refuse_same(places: Sequence[Path], views: Sequence[Profile]) -> None:
    """UsageError if two of the views are one recording: of the same samples, or files with the same bytes."""
    for (one, first), (other, second) in combinations(zip(places, views, strict=True), 2):
        same = first.recording == second.recording if first.recording and second.recording else same_bytes(one, other)
        if same:
            raise UsageError(
                f"{clean(str(one))} and {clean(str(other))} are the same recording.", hint="Give each recording once."
            )


def _refuse_runs(places: Sequence[Path], views: Sequence[Profile]) -> None:
    """UsageError if two of the views are of two runs: chathpc measure made each, or one tool timed a thread of the same rank in both, or
    programs of other names without a function in common, of which not both are ranks.
    """
    from chathpc.profile.merge import tool_of

    hint = "A series is for chathpc scale, before and after for chathpc diff; else give the profiles of one run."
    timed = [
        (place, view, tool_of(view))
        for place, view in zip(places, views, strict=True)
        if view.program and any(name.startswith("cpu.") for name in view.metrics)
    ]
    for (one, first, its), (other, second, tool) in combinations(timed, 2):
        ranks = all((view.where.rank >= 0).any() for view in (first, second))
        if its != tool or first.program == second.program or ranks:
            continue
        mine, theirs = _own(first), _own(second)
        if mine and theirs and mine.isdisjoint(theirs):
            raise UsageError(
                f"{clean(str(one))} and {clean(str(other))} are of different programs, {clean(first.program)} and {clean(second.program)}.",
                hint=hint,
            )
    seen: dict[tuple[object, ...], tuple[Path, Path]] = {}
    for place, view in zip(places, views, strict=True):
        for owner, mark in _marks(place, view):
            known, other = seen.setdefault((tool_of(view), *mark), (owner, place))
            if known != owner:
                raise UsageError(f"{clean(str(other))} and {clean(str(place))} are two runs.", hint=hint)


def _own(view: Profile) -> set[tuple[str, str]]:
    """Names of the program's functions, with their files."""
    from chathpc.profile.classification import classify

    tree = view.tree
    own = np.flatnonzero((tree.function == np.arange(len(tree))) & (tree.parent >= 0) & (classify(tree).call < 0))
    return {(tree.function_name(at), tree.place(at).partition(":")[0]) for at in own.tolist()}


def _marks(place: Path, view: Profile) -> Iterator[tuple[Path, tuple[object, ...]]]:
    """What only one recording of a run has: a host time in a folder of chathpc measure, and of a thread whose rank is known, or of all ranks."""
    above = (place.resolve(), *place.resolve().parents[:2])
    made = next((folder for folder in above if (folder / "measure.json").is_file()), None)
    where = view.where
    known = ~where.is_gpu & (where.rank >= 0)
    if view.told(RANKS_ADDED) > 1:  # every rank of the run
        known = ~where.is_gpu
    for name in (name for name, metric in view.metrics.items() if name.startswith("cpu.") and metric.has_values):
        if made is not None:
            yield made, (name,)
        for at in np.flatnonzero(known & (np.nan_to_num(view.location_totals(name)) > 0)).tolist():
            yield place, (name, int(where.node[at]), int(where.rank[at]), int(where.thread[at]))


def named(format: str) -> Adapter:
    """The adapter of that name; UsageError if there is none."""
    from chathpc.adapters.registry import every_adapter

    for adapter in every_adapter():
        if adapter.name == format:
            return adapter
    known = ", ".join(adapter.name for adapter in every_adapter())
    raise UsageError(f"Unknown format '{clean(format)}'.", hint=f"Known formats: {known}.")


def detect(glance: Glance) -> Adapter | None:
    """The first adapter that recognises the content; None if none does."""
    for module in FIRST:
        first: Adapter = import_module(module).ADAPTER
        if first.recognises(glance):
            return first
    from chathpc.adapters.registry import built_in, third_party

    for adapter in built_in().adapters:
        if adapter.recognises(glance):
            return adapter
    for adapter in third_party().adapters:
        try:
            if adapter.recognises(glance):
                return adapter
        except Exception:  # noqa: BLE001, S112  another package's mistake must not stop the search
            continue
    return None


def _read(adapter: Adapter, path: Path, given: Path) -> Profile:
    """Read `path`, which is what the user gave or its content; what another package's adapter raises is an AdapterError that names it."""
    try:
        return _with_record(_with_sources(adapter.read(path), given), given)
    except ChathpcError:
        raise
    except Exception as error:
        from chathpc.adapters.registry import built_in

        if adapter in built_in().adapters:
            raise
        raise AdapterError(
            f"the adapter '{adapter.name}' failed: {clean(f'{type(error).__name__}: {error}')[:300]}",
            path=path,
            hint="Report it to the adapter's authors, or set CHATHPC_PLUGINS= to disable it.",
        ) from error


def _read_packed(adapter: Adapter | None, path: Path) -> Profile:
    """The profile in a packed file of a format that is read from files as they were before, such as databases."""
    with plain_file(path) as plain:
        try:
            adapter = adapter or detect(Glance(plain))
            if adapter is None:
                raise _unknown(path, Glance(plain))
            profile = _read(adapter, plain, path)
        except AdapterError as error:
            error.message = error.message.replace(str(plain), str(path))
            error.hint = error.hint.replace(str(plain), plain.name)
            error.path = path
            raise
    sources = tuple(replace(one, path=path) if one.path == plain else one for one in profile.sources)
    return replace(profile, sources=sources)


def _with_sources(profile: Profile, path: Path) -> Profile:
    """The profile; where the format carries no source text, that of files beside it is read when it is asked for."""
    if profile.read_source is not no_source or not path.is_file():
        return profile
    return replace(profile, read_source=beside(path))


def _look(path: Path) -> None:
    """Refuse what cannot be a profile before any adapter opens it."""
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            if not os.access(path, os.R_OK | os.X_OK):
                raise AdapterError("the folder cannot be read", path=path, hint="Check its permissions.")
            if not any(path.iterdir()):
                raise AdapterError(
                    "the folder is empty", path=path, hint="Give the file or folder that a profiler wrote."
                )
        elif not stat.S_ISREG(mode):
            raise AdapterError(
                "neither a file nor a folder", path=path, hint="Give the file or folder that a profiler wrote."
            )
        elif not os.access(path, os.R_OK):
            raise AdapterError("the file cannot be read", path=path, hint="Check its permissions.")
    except FileNotFoundError:
        raise AdapterError("no such file or folder", path=path, hint="Check the path.") from None
    except ValueError:
        raise AdapterError("not a path", path=clean(str(path)), hint="Check the path.") from None
    except OSError as error:
        raise unreadable(error, path) from None


def _unknown(path: Path, glance: Glance) -> AdapterError:
    """The error for what no adapter reads: what it is, where that can be told by a look at its content, and what to do."""
    from chathpc.adapters.foreign import foreign, whole_of

    if (part := whole_of(path)) is not None:
        return AdapterError(f"{part[0]}, not a profile by itself", path=path, hint=part[1])
    what, hint = foreign(glance), _hint(path)
    if what is None:
        return AdapterError(f"not a profile that chathpc knows{_contents(path)}", path=path, hint=hint)
    return AdapterError(
        f"{what[0]}, not a profile that chathpc knows", path=path, hint=what[1] if hint == KNOWN else hint
    )


def _contents(path: Path) -> str:
    """A few names of what is in a folder, for the message."""
    if not path.is_dir():
        return ""
    names = sorted(entry.name for entry in path.iterdir())
    shown = ", ".join(clean(name)[:40] for name in names[:4])
    return f" (it holds {shown}{', …' if len(names) > 4 else ''})"


def _hint(path: Path) -> str:
    if path.is_file():
        return KNOWN
    if any(entry.suffix == ".hpcrun" for entry in path.iterdir()):
        return f"These are measurements: run 'hpcstruct {path}' and 'hpcprof {path}', then give the database folder."
    folders = (each for each in sorted(path.iterdir()) if each.is_dir() and os.access(each, os.R_OK | os.X_OK))
    known = list(islice((each for each in folders if detect(Glance(each)) is not None), 2)) or _known(path)
    if len(known) > 1:
        return f"There are profiles in it: give one, such as {known[0]}, or those of the ranks of one run together."
    return f"There is a profile in it: give {known[0]}." if known else KNOWN


def _measured(folder: Path) -> tuple[Path, Mapping[str, object]] | None:
    """The profile in a folder that chathpc measure wrote, as its record names it, and the record; None for other folders."""
    try:
        with (folder / "measure.json").open("rb") as stream:
            record = json.loads(stream.read(1 << 20))
        profile = folder / str(record["profile"])
        inside = profile.resolve().is_relative_to(folder.resolve()) and profile.exists()
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return (profile, record) if inside else None


def _with_record(profile: Profile, path: Path) -> Profile:
    """The profile with what chathpc measure found out about its run and the machine, if the record of it lies above."""
    for folder in path.absolute().parents[:2]:
        measured = _measured(folder)
        if measured is not None and measured[0].resolve() == path.resolve():
            known = {key: measured[1].get(key) for key in (PAGE_FAULT, PEAK_MEMORY)}
            told = {key: str(value) for key, value in known.items() if isinstance(value, int | float)}
            events = measured[1].get("events")
            machine = measured[1].get("machine")
            machine = machine if isinstance(machine, dict) else {}
            # perf is asked for them wherever there are some.
            perf = measured[1].get("tool") == "perf" and isinstance(events, list) and "cycles" not in events
            if perf or machine.get("counters") == "none":
                told[NO_COUNTERS] = "yes"
            overhead = measured[1].get("overhead_interval") or [measured[1].get("overhead")]
            if isinstance(overhead, list) and isinstance(overhead[0], int | float):
                told[OVERHEAD] = str(overhead[0])
            if type(code := measured[1].get("code")) is int and code:
                told[EXIT_CODE] = str(code)
            if isinstance(machine.get("cache"), str):
                told[LAST_CACHE] = machine["cache"]
            # Most tools, HPCToolkit among them, do not tell how many cores the threads had.
            cores = {"processors": machine["cores"]} if isinstance(machine.get("cores"), str) else {}
            command = measured[1].get("command")
            if isinstance(command, list) and all(isinstance(word, str) for word in command):
                told |= told_command(command)
            return replace(
                profile, run={**profile.run, **told}, hardware={**cores, **profile.hardware},
                build=profile.build or _compiled(folder / PRODUCERS),
            )  # fmt: skip
    return profile


def _compiled(producers: Path) -> Build | None:
    """How the program was compiled, as far as its debug information told chathpc measure; None where it has no options."""
    from chathpc.adapters.compiler_records import read

    try:
        return read(producers).build if producers.is_file() else None
    except ChathpcError:
        return None


def _known(folder: Path) -> list[Path]:
    """The first files of a folder that are profiles by themselves."""
    files = [entry for entry in sorted(folder.iterdir())[:_LOOKED] if entry.is_file() and os.access(entry, os.R_OK)]
    return [entry for entry in files if detect(Glance(entry)) is not None]
