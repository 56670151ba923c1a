"""A whole HPCToolkit v4 database as a Profile."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from chathpc.adapters.hpctoolkit.binary import DatabaseFile
from chathpc.adapters.hpctoolkit.derived import DerivedMetric, read_derived
from chathpc.adapters.hpctoolkit.meta import read_meta
from chathpc.adapters.hpctoolkit.profiles import (
    Block,
    ContextDatabase,
    ContextNodes,
    ProfileDatabase,
    count_elements,
    read_timeline,
    wall_seconds,
)
from chathpc.adapters.hpctoolkit.values import DatabaseValues, scopes_of
from chathpc.adapters.hpctoolkit.vocabulary import metric_for, metrics_for
from chathpc.errors import AdapterError
from chathpc.profile.metric import Aggregation, Metric
from chathpc.profile.profile import Profile, Source, no_timeline
from chathpc.profile.source_text import copied
from chathpc.profile.stalls import sampling_caveat
from chathpc.profile.timeline import Timeline
from chathpc.profile.tree import NodeKind


def read(path: Path) -> Profile:
    """Read the database in folder `path`.

    The tree, the metrics and their sums over all locations are read at once; values per location, traces, derived
    metrics and source text when they are asked for. AdapterError for anything damaged, foreign or of another version. A
    missing or damaged cct.db, trace.db or metrics/default.yaml is a caveat: the numbers do not depend on it.
    """
    caveats: list[str] = []
    for name in ("meta.db", "profile.db"):
        if not (path / name).exists():
            raise _incomplete(path, name)
    with ThreadPoolExecutor(max_workers=1) as beside:
        reading = beside.submit(_profiles, path / "profile.db")
        meta = read_meta(DatabaseFile(path / "meta.db"))  # first to complain: it knows pre-release layouts by name
    profiles, summary = reading.result()
    for opened in (meta.file, profiles.file):
        _noted(opened, caveats)
    tree = meta.tree
    if tree.source_id is None or not len(tree):
        raise AdapterError(
            "has no calling contexts: nothing was measured",
            path=meta.file.path,
            hint="Look at hpcrun's log: the program may have ended immediately, or the event may not exist on this machine.",
        )
    try:
        nodes_of = ContextNodes(tree.source_id)
    except ValueError as error:
        raise meta.file.damaged(str(error)) from None

    metrics = metrics_for(raw.name for raw in meta.metrics)
    ids = {metric.source_name: metric.id for metric in metrics}
    derived, hidden = _derived(path, ids, caveats)
    values = DatabaseValues(
        tree=tree,
        propagation=meta.propagation,
        nodes_of=nodes_of,
        profiles=profiles,
        contexts=_contexts(path, profiles, caveats),
        metrics={
            metric.id: scopes_of(raw, metric.scale, counted=metric.aggregation != Aggregation.MAX)
            for metric, raw in zip(metrics, meta.metrics, strict=True)
        },
        from_summary=summary is not None,
        derived={_derived_metric(one).id: one for one in derived},
    )
    values.load(summary)
    table: dict[str, Metric] = {}
    for metric in metrics:
        table[metric.id] = replace(
            metric,
            hidden=metric.hidden or metric.source_name in hidden,
            has_values=len(values.inclusive(metric.id)) > 0,
        )
    for one in derived:
        metric = _derived_metric(one)
        if metric.id not in table:
            formula = one.inclusive or one.exclusive
            inputs = [step for step in formula.steps if isinstance(step, str)] if formula else []
            measured = any(table[step].has_values for step in inputs if step in table)
            table[metric.id] = replace(metric, has_values=measured)
    if not any(metric.has_values for metric in table.values()):
        caveats.append(
            "No metric has any value: the program ran too briefly to be sampled, or the events did not work."
        )
    if not tree.has(NodeKind.LINE, NodeKind.LOOP):
        caveats.append(
            "No program structure: lines, loops and inlined functions are unknown (run hpcstruct before hpcprof)."
        )
    caveats += sampling_caveat(name for name, metric in table.items() if metric.has_values)
    version = f"4.{meta.file.minor}"
    told = meta.description and not meta.description.startswith("TODO")
    samples, seconds = _traced(path, caveats)
    return Profile(
        format=f"HPCToolkit v{version}",
        title=meta.title or path.resolve().name,
        tree=tree,
        metrics=table,
        values=values,
        where=profiles.identifiers(meta.identifier_kinds),
        sources=(Source(path, "HPCToolkit", version),),
        caveats=tuple(caveats),
        run=({"description": meta.description} if told else {})
        | ({} if seconds is None else {"seconds": f"{seconds:.9g}"}),
        sample_count=samples,
        read_source=copied(path / "src", "src"),
        read_timeline=partial(_timeline, path, nodes_of, profiles) if (path / "trace.db").exists() else no_timeline,
    )


def _profiles(file: Path) -> tuple[ProfileDatabase, Block | None]:
    profiles = ProfileDatabase(DatabaseFile(file))
    return profiles, profiles.summary_block()


def _incomplete(path: Path, missing: str) -> AdapterError:
    if missing == "meta.db" and (path / "profile.db").exists():
        DatabaseFile(path / "profile.db")  # names the development versions that had no meta.db
    return AdapterError(f"{missing} is missing", path=path, hint="The database is incomplete; run hpcprof again.")


def _noted(file: DatabaseFile, caveats: list[str]) -> DatabaseFile:
    """The file; that it is of a newer format is a caveat."""
    caveat = f"Format 4.{file.minor} is newer than chathpc knows (4.0); what is new in it was not read."
    if file.newer and caveat not in caveats:
        caveats.append(caveat)
    return file


@contextmanager
def _optional(name: str, caveats: list[str], otherwise: str = "") -> Iterator[None]:
    """Damage of a file that the numbers do not depend on is a caveat."""
    try:
        yield
    except AdapterError as error:
        caveats.append(f"{name} cannot be used ({error.message}){otherwise}.")


def _contexts(path: Path, profiles: ProfileDatabase, caveats: list[str]) -> ContextDatabase | None:
    if not (path / "cct.db").exists():
        caveats.append("cct.db is missing: values per location are read from profile.db, which takes longer.")
        return None
    with _optional("cct.db", caveats, ": values per location are read from profile.db"):
        return ContextDatabase(_noted(DatabaseFile(path / "cct.db"), caveats), profiles)
    return None


def _timeline(path: Path, nodes_of: ContextNodes, profiles: ProfileDatabase) -> Timeline:
    return read_timeline(DatabaseFile(path / "trace.db"), nodes_of, profiles.location_of)


def _traced(path: Path, caveats: list[str]) -> tuple[int | None, float | None]:
    """The number of samples in the trace, and the seconds from the first to the last."""
    if (path / "trace.db").exists():
        with _optional("trace.db", caveats):
            opened = _noted(DatabaseFile(path / "trace.db"), caveats)
            return count_elements(opened) or None, wall_seconds(opened)
    return None, None


def _derived(path: Path, ids: dict[str, str], caveats: list[str]) -> tuple[list[DerivedMetric], frozenset[str]]:
    file = path / "metrics" / "default.yaml"
    if file.exists():
        with _optional("metrics/default.yaml", caveats, ": derived metrics are missing"):
            return read_derived(file, ids)
    return [], frozenset()


def _derived_metric(one: DerivedMetric) -> Metric:
    metric = metric_for(one.name)
    rule = Aggregation.SUM if one.adds_up else Aggregation.DERIVED
    return replace(metric, description=one.description, aggregation=rule, hidden=not one.visible)
