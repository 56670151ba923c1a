"""A whole HPCToolkit database with experiment.xml as a Profile."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from chathpc.adapters.content import open_regular
from chathpc.adapters.hpctoolkit_v3.experiment import (
    DAMAGED,
    NEWER,
    Experiment,
    call_tree,
    read_experiment,
)
from chathpc.adapters.hpctoolkit_v3.threads import MetricFiles, ThreadFile, find_files, locations_of, read_timeline
from chathpc.adapters.hpctoolkit_v3.values import ExperimentValues, MetricTable, metric_table, own_columns
from chathpc.errors import AdapterError
from chathpc.profile.location import Locations
from chathpc.profile.metric import Column
from chathpc.profile.profile import Profile, Source, no_timeline
from chathpc.profile.source_text import copied

FILE_NAME = "experiment.xml"
#: The document type that hpcprof may write before the root element takes 10 KiB.
_HEAD = 1 << 16
#: How profile.db of the layout between experiment.xml and meta.db begins.
_HYBRID = b"HPCPROF-profdb__"


def read(path: Path) -> Profile:
    """Read the database in folder `path`, or whose experiment.xml `path` is.

    AdapterError for damaged, foreign or newer files, and for a database without any metric or trace. Values come from
    the files of the threads where these are there (exact), else from experiment.xml (six digits).
    """
    try:
        document = path / FILE_NAME if path.is_dir() else path
        folder = document.parent
        has_profile = (folder / "profile.db").is_file()
    except OSError as error:
        raise AdapterError(f"cannot be read: {error.strerror}", path=path, hint="Check its permissions.") from error
    if has_profile:
        _refuse_hybrid(folder / "profile.db")
    experiment = read_experiment(document)
    table = metric_table(experiment.metrics, experiment.stored)
    traces = find_files(folder, ".hpctrace", "experiment*.mt") if experiment.ticks_per_second is not None else []
    if not table.metrics and not traces:
        raise AdapterError(
            "has no metric and no trace", path=document, hint="Measure with an event: hpcrun -e REALTIME -t PROGRAM."
        )
    if len(experiment.tag) == 0:
        raise AdapterError(
            "has no calling contexts: nothing was measured",
            path=document,
            hint="Look at hpcrun's log: the program may have ended immediately, or the event may not exist here.",
        )
    tree = call_tree(experiment)
    files = _metric_files(folder, experiment, table)
    places = _places(files, traces)
    where = locations_of(places) if places else Locations.single()
    columns, excess = own_columns(experiment, table.series, tree)
    scales = {identifier: metric.scale for identifier, metric in table.metrics.items()}
    values = ExperimentValues(
        tree=tree,
        summary={name: Column(one.nodes, one.values * scales[name]) for name, one in columns.items()},
        ratios=table.ratios,
        scales=scales,
        stored={} if files is None else table.stored,
        files=files,
        record=experiment.id - 1,
        location_count=len(where),
        home=_home(where),
    )
    with_values = _with_values(values, table)
    metrics = {name: replace(metric, has_values=name in with_values) for name, metric in table.metrics.items()}
    rows = {place.key: row for row, place in enumerate(places)}

    return Profile(
        format=f"HPCToolkit v3 (experiment.xml {experiment.version})",
        title=experiment.title or folder.resolve().name,
        tree=tree,
        metrics=metrics,
        values=values,
        where=where,
        sources=(Source(path, "HPCToolkit", experiment.version),),
        caveats=_caveats(values, with_values, excess),
        read_source=copied(folder / "src", "src"),
        read_timeline=partial(read_timeline, traces, rows, experiment) if traces else no_timeline,
    )


def _refuse_hybrid(profile: Path) -> None:
    """AdapterError if `profile` is the profile.db of 2021–2022, which stood beside an experiment.xml and no meta.db."""
    with open_regular(profile) as file:
        if file.read(len(_HYBRID)) == _HYBRID:
            raise AdapterError(
                "begins with HPCPROF-profdb__: a layout between experiment.xml and meta.db that chathpc does not read",
                path=profile,
                hint=NEWER,
            )


def _metric_files(folder: Path, experiment: Experiment, table: MetricTable) -> MetricFiles | None:
    found = find_files(folder, ".metric-db", "experiment*.mdb")
    if not found or len(experiment.id) == 0:
        return None
    if int(experiment.id.min()) < 1:
        raise AdapterError("a node has no number, so its values cannot be found", path=experiment.path, hint=DAMAGED)
    files = MetricFiles(found, int(experiment.id.max()))
    for column in table.stored.values():
        if not 0 <= column < files.metrics:
            raise found[0].damaged(f"has {files.metrics} metrics, and experiment.xml expects number {column}", 28)
    return files


def _places(files: MetricFiles | None, traces: list[ThreadFile]) -> list[ThreadFile]:
    """One for each location: those with values first, in the order of their files, then those with a trace only."""
    places = {} if files is None else {file.key: file for file in files.files}
    for trace in traces:
        known = places.setdefault(trace.key, trace)
        if known.host < 0:
            places[trace.key] = replace(known, host=trace.host)
    return list(places.values())


def _home(where: Locations) -> int | None:
    """The location that the summary belongs to: the only CPU thread, which has the values of GPU operations too."""
    threads = np.flatnonzero(~where.is_gpu)
    return int(threads[0]) if len(threads) == 1 else None


def _with_values(values: ExperimentValues, table: MetricTable) -> set[str]:
    found = {name for name, column in values.summary.items() if len(column)}
    if not found:  # hpcprof can be told to leave the values of the summary out
        found = {name for name in values.stored if bool(np.any(np.nan_to_num(values.location_totals(name))))}
    return found | {name for name, ratio in table.ratios.items() if {ratio.over, ratio.under} <= found}


def _caveats(values: ExperimentValues, with_values: set[str], excess: int) -> tuple[str, ...]:
    caveats = []
    if not with_values:
        caveats.append(
            "No metric has any value: the program ran too briefly to be sampled, or the events did not work."
        )
    elif values.files is None:
        caveats.append("The database has no per-thread values; its sums are rounded to six significant digits.")
    if excess:
        caveats.append(
            f"{excess} values of experiment.xml are smaller than those of their children; the larger ones were used."
        )
    return tuple(caveats)
