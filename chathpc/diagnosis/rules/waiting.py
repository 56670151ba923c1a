"""Waiting outside of OpenMP and MPI: locks, sleeping, events."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from chathpc.diagnosis import lacks
from chathpc.diagnosis.catalogue import cause, common
from chathpc.diagnosis.cores import without_core
from chathpc.diagnosis.draft import Draft, part_of, share_here, time_fact
from chathpc.diagnosis.fact import Form, told
from chathpc.diagnosis.facts import Facts
from chathpc.diagnosis.insufficient import unseen_work
from chathpc.diagnosis.rules.called import called_draft, called_time
from chathpc.diagnosis.source.hot import source_evidence
from chathpc.diagnosis.source.sign import Sign
from chathpc.profile import numbers
from chathpc.profile.activity import Activity, base_name
from chathpc.profile.classification import interpreter_waits, python_waits
from chathpc.profile.tree import BoolArray, CallTree, NodeKind

#: What helps where threads wait for each other's Python.
_INTERPRETER = (
    "Only one thread at a time runs Python: give the work to processes (concurrent.futures.ProcessPoolExecutor, multiprocessing.Pool).",
    "Let the threads run code that releases the lock: NumPy on whole arrays, @numba.njit(nogil=True), `with nogil` in Cython.",
    "Run a free-threaded build of Python (python3.13t or newer), if the packages that are used support it.",
)
_HOLDER = (
    "py-spy record --gil -f raw -o gil.txt -- ./app (Samples of the thread that holds the lock alone: where nearly each moment of the run has one, "
    "more threads cannot make it faster.)"
)
_OF_TASKS = "py-spy record --subprocesses -f speedscope -o tasks.json -- ./app (Samples of what works alone: those of the workers should be about as many.)"
#: What helps workers that wait for their next task: while all of them wait, and while one of them still works.
_SMALL = (
    "Give each task more to do (chunksize= of Pool.map and imap), so that workers wait less often for the next one.",
    "Send less with each task: hand over indices or shared memory (multiprocessing.shared_memory), not data.",
)
_UNEVEN = (
    "Divide the tasks that take much longer than others, or start them first, so that no worker ends long before the last.",
    "Make more and smaller tasks than there are workers (chunksize= of Pool.map and imap).",
)


def locks(facts: Facts) -> Iterable[Draft]:
    """Threads that wait for a mutex or spin lock, or for the lock of Python's interpreter."""
    weight = facts.of(Activity.LOCK)
    # Whose process has no other thread never waits for one: that is what taking a lock costs.
    if not weight.any() or (lacks.threads(facts) is None and _alone(facts)):
        return
    tree = facts.profile.tree
    of_interpreter = tree.nearest(interpreter_waits(tree)) >= 0
    for chosen in (of_interpreter, ~of_interpreter):
        time = called_time(facts, cause("lock-contention"), np.where(chosen, weight, 0.0))
        if time is None:
            continue
        spent = facts.grouped(np.where(chosen & (weight > 0), 0, -1).astype(np.int32), 1)[:, 0]
        waiting = int((spent > common()["hardly_any"].value * time.cost).sum())
        python = chosen is of_interpreter
        draft = called_draft(
            facts,
            time,
            f"Threads wait for Python's interpreter lock (GIL) in {time.caller}"
            if python
            else f"Threads wait for a lock taken in {time.caller}",
            subject=f"waits of {told(waiting, 'threads')} for the interpreter's lock"
            if python
            else f"lock functions in {told(waiting, 'threads')}",
            form=Form.MANY,
            how="time in which the interpreter waits for its lock"
            if python
            else "time in mutex and spin lock functions",
            by="the same by calling function" if python else "time in lock functions by calling function",
            signs=2 if waiting > 1 else 1,
            against=() if waiting > 1 else ("Only one thread was seen in lock functions.",),
            of="the thread time",
        )
        yield (
            replace(
                draft,
                title="Threads wait for Python's interpreter lock",
                advice=_INTERPRETER,
                own_advice=True,
                next_measurement=_HOLDER,
            )
            if python
            else draft
        )


def _alone(facts: Facts) -> bool:
    """True if no process has two threads of the program."""
    return len(np.unique(facts.processes)) == facts.thread_count


def blocked(facts: Facts) -> Iterable[Draft]:
    """Threads that sleep or wait for an event while nothing else keeps them from working."""
    entry = cause("blocking-wait")
    unseen = unseen_work(facts)
    weight = np.where(unseen > 0, 0.0, facts.of(Activity.SLEEP, Activity.BLOCKED))
    sleeping, cost = facts.spent(Activity.SLEEP), float(weight.sum())
    share = cost / facts.total
    if not facts.above(share, entry.threshold("min_share")):
        return
    # A thread that only waits for work while others compute, or could if they had a core, is idle, not a bottleneck: ask for a time in
    # which none works.
    waiting = facts.matrix[:, [Activity.SLEEP, Activity.BLOCKED, Activity.JOIN]].sum(axis=1)
    coreless = without_core(facts, np.ones(len(facts.profile.tree), dtype=bool))
    totals = facts.matrix.sum(axis=1) + coreless
    busiest = float((totals - waiting).max()) if len(totals) else 0.0
    length = float(totals.max()) if len(totals) else 0.0
    nobody = max(length - busiest, 0.0) / length if length else 0.0
    lost = cost
    if facts.concurrency is not None:  # the others may well work one after another
        nobody = facts.concurrency.nobody / facts.concurrency.elapsed
        lost = min(nobody * facts.total, cost)
        if not facts.above(lost / facts.total, entry.threshold("min_share")):
            return
    chosen = entry.threshold("min_sleep_part") * cost
    if sleeping >= chosen:
        weight = facts.of(Activity.SLEEP)
    hot = facts.hot_place(weight)
    if hot is None:
        return
    place = hot.place
    call = _main_call(facts, weight)
    waits = f"waits in {call}" if call else "waits"
    against = []
    least = entry.threshold("min_idle_part")
    if nobody < least:
        against.append(
            f"Another thread works for {numbers.percent(1 - nobody)} of the run, so the waiting may just be the lack of work for this thread."
        )
    draft = Draft(
        cause=entry.id,
        where=place,
        summary=f"{place.function} {waits} instead of working: {share_here(facts, hot.weight, cost, of='the thread time')}.",
        cost=lost,
        share=lost / facts.total,
        headroom=None if nobody >= least else entry.threshold("headroom_beside_work"),
        evidence=(
            time_fact(
                facts,
                cost,
                "sleeping and waiting for events" if call else "waiting",
                "time in sleep, poll, select, condition and semaphore functions",
            ),
            time_fact(
                facts,
                hot.weight,
                f"{call} called from {place.function}" if call else f"waiting after samples of {place.function}",
                "the same by calling function",
                of=part_of(facts, cost, "sleeping and waiting"),
                form=Form.NAME if call else Form.ONE,
                where=place,
            ),
            time_fact(
                facts,
                busiest,
                "the work of the busiest thread" + (", with its wait for a core," if coreless.any() else ""),
                "maximum over threads of time outside waiting",
                of=part_of(facts, length, "its time"),
            ),
        ),
        signs=2 if sleeping > chosen else 1,
        against=tuple(against),
    )
    if float(weight[_of_queues(facts.profile.tree)].sum()) >= common()["most"].value * cost:
        draft = replace(
            draft,
            title="Workers wait for tasks",
            advice=_SMALL if nobody >= least else _UNEVEN,
            own_advice=True,
            next_measurement=_OF_TASKS,
        )
    yield draft if call else _unseen(facts, draft)


def _of_queues(tree: CallTree) -> BoolArray:
    """True for nodes in which a worker of Python waits for what a queue gives it."""
    queues = tree.where_file(lambda path: path.endswith(("multiprocessing/queues.py", "queue.py")))
    return np.asarray(tree.nearest((python_waits(tree) == Activity.BLOCKED) & queues) >= 0)


#: Users without rights get no samples of the kernel, where threads block, but may look at system calls.
_UNSEEN = "The call in which it waits was not seen: it comes after this function's samples."
_LOOK = "strace -f -c -w ./app (Which system calls wait, and how long. After sysctl kernel.perf_event_paranoid=1 as root, perf shows where.)"


def _unseen(facts: Facts, draft: Draft) -> Draft:
    """Waiting that is only known to lie behind samples of a place: no line of it, but the call that the source shows there, if one kind
    only is there.
    """
    from chathpc.diagnosis.source.calls import waiting
    from chathpc.diagnosis.source.hot import Hot

    near = replace(
        draft, where=replace(draft.where, line=None), against=(*draft.against, _UNSEEN), next_measurement=_LOOK
    )
    hot, tree = Hot(facts), facts.profile.tree
    for step in reversed(tree.path(draft.where.node)):
        held = hot.at(int(tree.file[step]), int(tree.line[step])) if tree.line[step] > 0 else None
        calls = waiting(held[1], held[0]) if held is not None else []
        if len({call.short for *_, call, _ in calls}) > 1:
            return near
        if calls:
            holder, call, activity = calls[0]
            entry = cause({Activity.IO: "io-bound", Activity.LOCK: "lock-contention"}.get(activity, draft.cause))
            name = next((one for one in facts.label_names if one.rsplit("::", 1)[-1] == holder.name), holder.name)
            there = facts.place(int(tree.function[step]), line_node=step)
            says = f"calls {call.short}, the only kind of call in and below {there.function} in which a thread waits"
            place = replace(there, function=name, line=call.line)
            sign = Sign(entry.id, call.line, call.line, call.line, says, says)
            return replace(
                near,
                cause=entry.id,
                where=place,
                summary=f"{name} waits in {call.short}, as its source shows: {numbers.percent(draft.share)} of the thread time.",
                evidence=(*draft.evidence, source_evidence(facts, place, sign)),
                signs=draft.signs + 1,
            )
    return near


def _main_call(facts: Facts, weight: np.ndarray) -> str:
    """The call in which most of the time is waited; empty where threads blocked without a sample of the call, or after one that only
    computes."""
    call, tree = facts.activities.call, facts.profile.tree
    counted = np.flatnonzero((weight > 0) & (call >= 0))
    # Who measures each call has seen it, also one without a place (Python's built-in functions).
    named = (tree.kind[call[counted]] != NodeKind.PLACEHOLDER) | facts.profile.timed
    if weight[counted][named].sum() <= weight[counted][~named].sum():
        return ""
    counted = counted[named]
    label = tree.function_labels[0][call[counted]]
    most = int(np.argmax(np.bincount(label, weights=weight[counted])))
    kind = facts.activities.kind[call[counted[label == most][0]]]
    name = base_name(facts.label_names[most])
    return "" if kind in (Activity.COMPUTE, Activity.MATH, Activity.COPY) else name


RULES = (locks, blocked)
