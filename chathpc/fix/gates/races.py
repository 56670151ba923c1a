"""Races that a change brings, told by its text: a first look, for they do not show in every run.

Of threads, only where it is sure: a variable from outside a work-sharing loop of OpenMP that is assigned in it without a clause, an atomic
or a critical section; and an array that is written at a place that has nothing to do with the loop, or is taken from data. Of messages:
requests that nothing waits for (MPI 4.1, section 3.7.3: until then the buffer of a send must not be changed and that of a receive not be
read), and messages taken from whoever sends first, where the original named the sender.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from chathpc.diagnosis.source.model import Expr, Function, Kind, Loop, Region, Statement, assignments, root
from chathpc.diagnosis.source.text import parsed
from chathpc.fix.gates.text import Code, code, codes

_CLAUSE = re.compile(
    r"\b(private|firstprivate|lastprivate|reduction|linear|threadprivate|copyprivate)\s*\(([^()]*(?:\([^()]*\)[^()]*)*)\)"
)
_GUARDS = ("atomic", "critical", "single", "master", "masked", "ordered", "task", "section")
_THREAD = "omp_get_thread_num"
#: Bounds of a part of an array: `h[:64]`.
_SECTION = re.compile(r"\[[^\[\]]*\]")
_NAME = re.compile(r"[A-Za-z_]\w*")
#: Variables of which each thread has its own: by a directive, and by C11, C++11 and GCC.
_THREADPRIVATE = re.compile(r"\bomp[ \t]+threadprivate[ \t]*\(([^()\n]*)\)", re.IGNORECASE)
_THREAD_LOCAL = re.compile(
    r"\b(?:_Thread_local|thread_local|__thread)\b[^;={}()\n]{0,200}?([A-Za-z_]\w*)\s*(?=[;={\[])"
)


def new_races(original: Mapping[str, str], changed: Mapping[str, str]) -> list[str]:
    """Sentences about shared writes that the changed files have and the original ones lack."""
    old = {text for path, source in original.items() for text, _ in races(path, source)}
    return [
        f"{path}:{line}: {text}"
        for path, source in changed.items()
        for text, line in races(path, source)
        if text not in old
    ]


def races(path: str, source: str) -> Iterator[tuple[str, int]]:
    """What threads write together in a file, and the line."""
    file = parsed(path, source.encode("utf-8", "surrogateescape"))
    if file is None:
        return
    own = _thread_local(code(path, source))
    for function in file.everything():
        for region in function.regions:
            words = region.words.split("(")[0].split()
            if "target" in words or not ({"for", "do", "parallel"} & set(words)):
                continue
            if {"for", "do"} & set(words):
                yield from _in_loop(function, region, own)
            elif "parallel" in words:
                yield from _in_region(function, region, own)


def _thread_local(text: Code) -> frozenset[str]:
    """Globals of which each thread has its own. Comments declare none."""
    directives = (match[1] for row in text.directives for match in _THREADPRIVATE.finditer(row))
    return frozenset(
        {name for listed in directives for name in _NAME.findall(listed)} | set(_THREAD_LOCAL.findall(text.plain))
    )


def _visible(names: frozenset[str], function: Function) -> set[str]:
    """The globals of these names that no local variable or parameter of the function hides."""
    return set(names) - {one.name for one in (*function.declarations, *function.parameters)}


def _in_loop(function: Function, region: Region, each_has: frozenset[str]) -> Iterator[tuple[str, int]]:
    """Shared writes in the work-sharing loop of a region; of the globals `each_has` each thread has its own."""
    inside = [loop for loop in function.loops if region.first <= loop.first and loop.last <= region.last]
    if not inside or function.is_broken(region.first, region.last):
        return
    loop = inside[0]
    around = [each for each in function.regions if each.first <= region.first and region.last <= each.last]
    private = {loop.variable} | _visible(each_has, function) | _private(around) | _declared(function, around)
    collapsed = function.fortran or "collapse" in region.words
    private |= {each.variable for each in inside if collapsed or each.index == loop.index}
    for each in function.loops_in(loop.index):
        for name in sorted(each.updated - private):
            if function.declared(name) is not None:
                yield f"all threads of the loop update {name} in {function.name}", each.first
    varying = private | {each.variable for each in function.loops_in(loop.index)}
    taken = _from_data(function, loop)
    for one, line in _assignments_with_lines(function.inside(loop.index)):
        if not _guarded(function, region, line):
            found = _shared(function, loop, one.parts[0], private, varying, taken)
            if found:
                yield found, line


def _in_region(function: Function, region: Region, each_has: frozenset[str]) -> Iterator[tuple[str, int]]:
    """Writes that every thread of a region makes to the same place, which it has not for itself (`each_has`)."""
    if function.is_broken(region.first, region.last) or {"sections", "workshare"} & set(region.words.split()):
        return
    private = _visible(each_has, function) | _private([region]) | _declared(function, [region])
    own = _thread_numbers(function)
    for one, line in _assignments_with_lines(function.statements):
        if not region.first < line <= region.last or _shared_out(function, region, line):
            continue
        target, base = one.parts[0], root(one.parts[0])
        names = {name for part in target.parts for name in part.names()}
        if base.kind != Kind.NAME or base.text in private | own or names & own:
            continue
        if _numbered(target) or _for_one_thread(function, line, own):
            continue
        if target.kind == Kind.INDEX or (target.kind == Kind.NAME and function.declared(target.text) is not None):
            yield f"all threads of the region write to {function.show(target)} in {function.name}", line


def _assignments_with_lines(statements: Iterable[Statement]) -> Iterator[tuple[Expr, int]]:
    """All assignments of some statements, with their lines."""
    return ((one, each.line) for each in statements for one in each.walk() if one.kind == Kind.ASSIGN)


def _numbered(target: Expr) -> bool:
    """Whether an index holds the thread's number."""
    return any(call.short == _THREAD for part in target.parts for call in part.calls())


def _shared_out(function: Function, region: Region, line: int) -> bool:
    """Whether the line is shared out among the threads, or left to one of them at a time, inside the region."""
    return any(
        each is not region
        and region.first <= each.first <= line <= each.last
        and {word.split("(")[0] for word in each.words.split()}
        & {*_GUARDS, "for", "do", "sections", "workshare", "taskloop"}
        for each in function.regions
    )


def _for_one_thread(function: Function, line: int, own: set[str]) -> bool:
    """Whether the line is done only by threads of a certain number."""
    return any(
        (fork.condition.names() & own or any(call.short == _THREAD for call in fork.condition.calls()))
        and any(part is not None and part[0] <= line <= part[1] for part in (fork.then, fork.other))
        for fork in function.forks
    )


def _thread_numbers(function: Function) -> set[str]:
    """Names whose value follows from the thread's number, in as many steps as it takes."""
    found: set[str] = set()
    assigned = [
        (one.parts[0].text, one.parts[1]) for one in assignments(function.statements) if one.parts[0].kind == Kind.NAME
    ]
    assigned += [(loop.variable, loop.start) for loop in function.loops if loop.variable and loop.start is not None]
    before = -1
    while len(found) != before:
        before = len(found)
        found |= {
            name
            for name, value in assigned
            if value.names() & found or any(call.short == _THREAD for call in value.calls())
        }
    return found


def _private(regions: list[Region]) -> set[str]:
    found: set[str] = set()
    for region in regions:
        for match in _CLAUSE.finditer(region.words):
            listed = _SECTION.sub("", match[2])
            names = listed.rpartition(":")[2] if match[1] == "reduction" else listed.partition(":")[0]
            found.update(_NAME.findall(names))
    return found


def _declared(function: Function, around: list[Region]) -> set[str]:
    """Names that are declared inside the outermost region around (of Fortran in a `block`): each thread has its own."""
    outer = [each for each in around if "parallel" in each.words.split("(")[0].split()]
    if function.fortran and not outer:
        return set()
    if not outer:  # an orphaned loop: whatever the function declares is each thread's own
        return {one.name for one in function.declarations if not one.static and not one.dims} | {
            one.name for one in function.parameters if not one.pointers and not one.reference
        }
    first, last = outer[0].first, outer[0].last
    return {one.name for one in function.declarations if first <= one.line <= last and not one.static}


def _from_data(function: Function, loop: Loop) -> set[str]:
    """Names that get their value from an array or a call: two iterations may have the same."""
    return {
        one.parts[0].text
        for one in assignments(function.inside(loop.index))
        if one.parts[0].kind == Kind.NAME
        and any(inner.kind in (Kind.INDEX, Kind.CALL) for inner in one.parts[1].walk())
    }


def _direct(target: Expr) -> set[str]:
    """Names of the indices that are no part of an index or a call inside of them."""
    found: set[str] = set()
    todo = list(target.parts)
    while todo:
        one = todo.pop()
        if one.kind == Kind.NAME:
            found.add(one.text)
        elif one.kind not in (Kind.INDEX, Kind.CALL):
            todo.extend(one.parts)
    return found


def _own(function: Function, loop: Loop) -> set[str]:
    """The loop's variable, and names that hold the thread's number."""
    return {loop.variable} | {
        one.parts[0].text
        for one in assignments(function.statements)
        if any(call.short == _THREAD for call in one.parts[1].calls())
    }


def _holds_own(function: Function, loop: Loop, array: str, private: set[str]) -> bool:
    """Whether an array that each thread has for itself gets nothing in the loop but what is counted from the iteration's own number."""
    own = _own(function, loop)
    values = [one.parts[1] for one in assignments(function.inside(loop.index)) if root(one.parts[0]).text == array]
    return array in private and bool(values) and all(
        each.names() & own and not any(one.kind in (Kind.INDEX, Kind.CALL) for one in each.walk()) for each in values
    )  # fmt: skip


def _guarded(function: Function, region: Region, line: int) -> bool:
    return any(
        each.first <= line <= each.last
        and each is not region
        and region.first <= each.first
        and (each.words.split() or [""])[0].split("(")[0] in _GUARDS
        for each in function.regions
    )


def _shared(function: Function, loop: Loop, target: Expr, private: set[str], varying: set[str], taken: set[str]) -> str:
    """Why the assignment is one that threads make together; empty if it is not, or nobody can tell."""
    base = root(target)
    if base.kind != Kind.NAME or base.text in private:
        return ""
    if target.kind == Kind.NAME:
        declared = function.declared(target.text)
        if declared is None and not function.fortran:
            return ""  # a field, a global or a macro; globals may be threadprivate
        return f"all threads of the loop write to {target.text} in {function.name}"
    if target.kind == Kind.INDEX:
        names = {name for part in target.parts for name in part.names()}
        if _numbered(target) or _direct(target) & _own(function, loop):
            return ""  # each thread or iteration has a place of its own, unless what is added to it leads out of it
        if not names & varying and not any(True for part in target.parts for _ in part.calls()):
            locals_ = {one.name for one in function.declarations}
            if names <= locals_ or not names:
                return f"all threads of the loop write to {function.show(target)} in {function.name}"
        inner = [one for part in target.parts for one in part.walk() if one.kind == Kind.INDEX]
        if inner and all(_holds_own(function, loop, root(one).text, private) for one in inner):
            return ""
        if names & taken or inner:
            return f"threads of the loop write to {function.show(target)} in {function.name} at data-dependent indices"
    return ""


_STARTS = re.compile(
    r"\bMPI_(?:I(?!nit\b|s_|nfo_|ntercomm_)[a-z]\w*|[A-Z]\w*_init|R(?:put|get)\w*)\s*\(", re.IGNORECASE
)
_ENDS = re.compile(r"\bMPI_(?:Wait|Test)(?:all|any|some)?\s*\(", re.IGNORECASE)
#: Those that wait for several: how many, then the requests. The others have the request in the first place.
_OF_SEVERAL = ("all", "any", "some")
#: Calls that are named like those that start something, and take no request.
_OTHERS = frozenset({"mpi_iprobe", "mpi_improbe", "mpi_initialized", "mpi_session_init"})
_WILDCARDS = ("MPI_ANY_SOURCE", "MPI_ANY_TAG")
#: A request that a function fills in for its caller, in C and C++; handed on without taking its address.
_FOR_CALLER = re.compile(r"\bMPI_Request\s*\*\s*(?:restrict\s+|const\s+)?([A-Za-z_]\w*)\s*(?=[,)])")
_OWN_CALL = re.compile(r"\b(?!MPI_|if\b|for\b|while\b|switch\b)[A-Za-z_]\w*\s*\(([^(){};]{1,400})\)")
#: A call with more characters between its brackets is none that somebody wrote.
_LONGEST = 4000


def message_races(original: Mapping[str, str], changed: Mapping[str, str]) -> list[str]:
    """Sentences about races between messages that the changed files have and the original ones lack."""
    before, after = codes(original), codes(changed)
    known = set(_forgotten(before))
    found = [
        f"no call waits for the request {name} of {call}"
        for name, call in _forgotten(after)
        if (name, call) not in known
    ]
    for word in _WILDCARDS:
        if _count(after, word) > _count(before, word):
            found.append(f"{word} receives from any source, unlike the original")
    return found


def _count(codes: list[Code], word: str) -> int:
    return sum(one.words[word.lower() if one.fortran else word] for one in codes)


def _forgotten(codes: list[Code]) -> Iterator[tuple[str, str]]:
    """Names of requests that no call of the files waits for, with the call that starts each."""
    waited = {
        name
        for one in codes
        for arguments, call in _calls(one, _ENDS)
        for part in (arguments[1:2] if call.lower().endswith(_OF_SEVERAL) else arguments[:1])
        for name in _names(part, one)
    }
    for one in codes:
        given = set(_FOR_CALLER.findall(one.plain)) if not one.fortran and _takes_one(one, waited) else set()
        for arguments, call in _calls(one, _STARTS):
            if call.lower() in _OTHERS or len(arguments) < 2:
                continue
            # The request is the last argument, before Fortran's error, which may be left out (mpi_f08).
            names = [name for part in arguments[-2 if one.fortran else -1 :] for name in _names(part, one)]
            handed_on = "&" not in arguments[-1] and not given.isdisjoint(names)
            if names and waited.isdisjoint(names) and not handed_on:
                yield names[0], call


def _takes_one(one: Code, waited: set[str]) -> bool:
    """Whether a request that is waited for is given to a function that is not MPI's, which may start it."""
    return any(waited & set(_NAME.findall(arguments)) for arguments in _OWN_CALL.findall(one.plain))


def _names(argument: str, one: Code) -> list[str]:
    return _NAME.findall(argument.lower() if one.fortran else argument)


def _calls(one: Code, what: re.Pattern[str]) -> Iterator[tuple[list[str], str]]:
    """The arguments of each call, and its name."""
    for match in what.finditer(one.plain):
        depth, start, parts = 1, match.end(), []
        for at in range(match.end(), min(len(one.plain), match.end() + _LONGEST)):
            character = one.plain[at]
            if character in "([{":
                depth += 1
            elif character in ")]}":
                depth -= 1
            if (character == "," and depth == 1) or depth == 0:
                parts.append(one.plain[start:at])
                start = at + 1
            if depth == 0:
                yield parts, match[0].rstrip("( \t\n")
                break
