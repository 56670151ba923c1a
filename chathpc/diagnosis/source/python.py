"""What the source of Python says at a line: work that repeats itself, grows with its square, or is done item by item. Read with Python's own
parser; what a call may change is told from the names that it gets, since no types are known.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Any

import yaml

from chathpc.diagnosis.source.languages import is_python
from chathpc.diagnosis.source.sign import UNROLLED, Sign
from chathpc.diagnosis.source.text import MOST_BYTES
from chathpc.profile.profile import Profile
from chathpc.profile.text import clean

#: More text than this of one expression is no help to a reader.
_SHOWN = 50
#: So far are values and calls followed.
_DEPTH = 4

Definition = ast.FunctionDef | ast.AsyncFunctionDef
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_FOR = (ast.For, ast.AsyncFor)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_LOOPS = (*_FOR, ast.While, *_COMPREHENSIONS)


@dataclass(frozen=True, slots=True)
class _Way:
    """A way to lose time: its cause, what the report says of the function, what helps, and the title where the cause's does not fit."""

    cause: str
    summary: str
    advice: tuple[str, ...] = ()
    title: str = ""


@cache
def _known() -> dict[str, Any]:
    """What `python.yaml` holds."""
    content: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("python.yaml").read_text(encoding="utf-8"))
    return content


@cache
def _way(name: str) -> _Way:
    written = _known()["ways"][name]
    return _Way(**{**written, "advice": tuple(written.get("advice", ()))})


@cache
def _named(kind: str) -> tuple[str, ...]:
    """The names of a kind; of some their beginnings."""
    return tuple(_known()["names"][kind])


@dataclass(frozen=True, slots=False, eq=False)
class Script:
    """A parsed file of Python."""

    tree: ast.Module

    @cached_property
    def above(self) -> dict[ast.AST, ast.AST]:
        """What each node is part of."""
        return {below: node for node in ast.walk(self.tree) for below in ast.iter_child_nodes(node)}

    @cached_property
    def imported(self) -> dict[str, str]:
        """What each imported name stands for: `np` for `numpy`, `solve` for `numpy.linalg.solve`."""
        found = {"np": "numpy", "pd": "pandas"}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                heads = [one.name.split(".")[0] for one in node.names]
                found |= {
                    one.asname or head: one.name if one.asname else head
                    for one, head in zip(node.names, heads, strict=True)
                }
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found |= {one.asname or one.name: f"{node.module}.{one.name}" for one in node.names}
        return found

    @cached_property
    def functions(self) -> dict[str, Definition]:
        """The functions and methods by name, without names that several have."""
        every = [node for node in ast.walk(self.tree) if isinstance(node, _DEFINITIONS)]
        names = [each.name for each in every]
        return {each.name: each for each in every if names.count(each.name) == 1}

    @cached_property
    def _statements(self) -> list[ast.stmt]:
        return [each for each in ast.walk(self.tree) if isinstance(each, ast.stmt)]

    @cached_property
    def called_in_loops(self) -> frozenset[Definition]:
        """The functions that a loop of the file calls."""
        calls = (each for each in ast.walk(self.tree) if isinstance(each, ast.Call) and self.loops(each))
        return frozenset(own for each in calls if (own := self.own(each)) is not None)

    def begun(self, line: int) -> Definition | None:
        """The function that begins at the line, with its decorators."""
        every = (each for each in self._statements if isinstance(each, _DEFINITIONS))
        return next((each for each in every if min((each.lineno, *(one.lineno for one in each.decorator_list))) == line), None)  # fmt: skip

    def at(self, line: int) -> list[ast.stmt]:
        """The innermost statements that hold the line."""
        holding = [each for each in self._statements if each.lineno <= line <= _end(each)]
        latest = max((each.lineno for each in holding), default=0)
        return [each for each in holding if each.lineno == latest and not isinstance(each, (*_DEFINITIONS, ast.ClassDef))]  # fmt: skip

    def holder(self, node: ast.AST) -> Definition | None:
        """The function around a node."""
        while (above := self.above.get(node)) is not None and not isinstance(above, _DEFINITIONS):
            node = above
        return above if isinstance(above, _DEFINITIONS) else None

    def loops(self, node: ast.AST) -> list[ast.AST]:
        """The loops and comprehensions that repeat a node, within its function, the innermost first."""
        found: dict[ast.AST, None] = {}
        while (above := self.above.get(node)) is not None and not isinstance(above, (*_DEFINITIONS, ast.Lambda)):
            around = self.above.get(above)
            if (
                isinstance(above, ast.While)
                or (isinstance(above, _FOR) and node in (*above.body, above.target))
                or (isinstance(above, _COMPREHENSIONS) and node is not above.generators[0])
            ):
                found[above] = None
            elif isinstance(above, ast.comprehension) and node is not above.iter and around is not None:
                found[around] = None
            node = above
        return list(found)

    def is_repeated(self, line: int) -> bool:
        """True if the line is in a loop, or has one."""
        return any(self.loops(each) or any(isinstance(one, _LOOPS) for one in parts(each)) for each in self.at(line))

    def resolved(self, expr: ast.expr) -> str:
        """The whole name of a function: `numpy.linalg.inv` for `np.linalg.inv`; that of a built-in one as it is, else empty."""
        name = dotted(expr)
        first, _, rest = name.partition(".")
        if first in self.imported:
            return f"{self.imported[first]}.{rest}".rstrip(".")
        return name if "." not in name and name not in self.functions else ""

    def own(self, call: ast.Call) -> Definition | None:
        """The function of the file that a call goes to."""
        return self.functions.get(dotted(call.func).rsplit(".", 1)[-1])

    @cached_property
    def pure(self) -> dict[Definition, bool]:
        """What was found out by `is_pure`."""
        return {}

    def is_pure_call(self, call: ast.Call, fresh: frozenset[str] = frozenset()) -> bool:
        """True if a call changes nothing but what is `fresh`, and depends on its arguments alone, as far as names tell."""
        name = self.resolved(call.func)
        if name in _named("pure_builtins") or (
            name.startswith(_named("pure_modules")) and not name.startswith(_named("impure"))
        ):
            return True
        if isinstance(call.func, ast.Attribute) and not name:
            return call.func.attr in _named("pure_methods") or _root(call.func) in fresh
        own = self.own(call)
        return own is not None and is_pure(self, own)


def script_of(profile: Profile, name: str) -> Script | None:
    """The file as the profile brings it; None without source text, for another language, and where Python cannot parse it."""
    excerpt = profile.read_source(name, 1, MOST_BYTES) if is_python(name) else None
    if excerpt is None or excerpt.first != 1 or sum(map(len, excerpt.lines)) > MOST_BYTES:
        return None
    return parsed("\n".join(excerpt.lines))


@lru_cache(maxsize=8)
def parsed(text: str) -> Script | None:
    """The text; None where Python cannot parse it."""
    try:
        return Script(ast.parse(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def signs(script: Script, line: int, *, repeated: bool) -> Iterator[Sign]:
    """What the statements at a line, in a loop or in a function that is called in one (`repeated`), are known to cost too much for: the
    first thing of each. At the line where a function begins its time is that of all its lines, as cProfile tells it.
    """
    function = script.begun(line)
    if function is None:
        yield from (found for each in script.at(line) if (found := _first(script, each, repeated)) is not None)
        return
    known = set()
    for each in ast.walk(function):
        found = _first(script, each, repeated) if isinstance(each, ast.stmt) and each is not function else None
        if found is not None and found.cause not in known and script.holder(each) is function:
            known.add(found.cause)
            yield replace(found, first=line, last=line, calls=False, against=(*found.against, _NO_LINES))


_NO_LINES = "The profile tells the time of the function, not of this line."


def _first(script: Script, statement: ast.stmt, repeated: bool) -> Sign | None:
    function = script.holder(statement)
    repeated = repeated or (function is not None and function in script.called_in_loops)
    found = (look(script, statement, repeated) for look in _LOOKS)
    return next((each for each in found if each is not None), None)


def dotted(expr: ast.AST) -> str:
    """`self.names` and the like; empty for anything but names and attributes."""
    parts: list[str] = []
    while isinstance(expr, ast.Attribute):
        parts.append(expr.attr)
        expr = expr.value
    return ".".join([expr.id, *reversed(parts)]) if isinstance(expr, ast.Name) else ""


def _root(expr: ast.AST) -> str:
    while isinstance(expr, ast.Attribute | ast.Subscript):
        expr = expr.value
    return expr.id if isinstance(expr, ast.Name) else ""


def _names(*exprs: ast.AST) -> set[str]:
    return {each.id for expr in exprs for each in ast.walk(expr) if isinstance(each, ast.Name)}


def _end(node: ast.stmt) -> int:
    return node.end_lineno or node.lineno


def _shown(expr: ast.AST) -> str:
    text = ast.unparse(expr)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def parts(statement: ast.stmt) -> Iterator[ast.AST]:
    """The expressions of a statement, of a loop or branch those of its head."""
    todo: list[ast.AST] = [statement]
    while todo:
        node = todo.pop()
        yield node
        todo.extend(each for each in ast.iter_child_nodes(node) if not isinstance(each, ast.stmt | ast.excepthandler | ast.match_case))  # fmt: skip


def _sign(name: str, at: ast.stmt, says: str, lines: tuple[int, int] | None = None, **more: Any) -> Sign:
    """A sign of a way at a statement, of a loop or branch at its head, unless its time is that of other lines."""
    way, body = _way(name), getattr(at, "body", None)
    head = max(at.lineno, body[0].lineno - 1) if isinstance(body, list) and body else _end(at)
    first, last = lines or (at.lineno, head)
    return Sign(
        way.cause, at.lineno, first, last, clean(says), way.summary, title=way.title, advice=way.advice, **{"calls": True, **more}
    )  # fmt: skip


# -- lists -----------------------------------------------------------------------------------------------------


def _searched(script: Script, statement: ast.stmt, repeated: bool) -> Sign | None:
    """Look-ups in a list, and changes at its beginning, again and again."""
    for node in parts(statement):
        if not (repeated or script.loops(node)):
            continue
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn) and is_list(script, node.comparators[0]):  # fmt: skip
            held = _shown(node.comparators[0])
            return _sign("searched", statement, f"looks for {_shown(node.left)} in the list {held} item by item each time")  # fmt: skip
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or not node.args:
            continue
        name, first = node.func.attr, node.args[0]
        at_front = name in ("insert", "pop") and isinstance(first, ast.Constant) and first.value == 0
        if (at_front or name in ("index", "remove", "count")) and is_list(script, node.func.value):
            if at_front:
                return _sign("shifted", statement, f"moves all other items each time ({_shown(node)})")
            return _sign("searched", statement, f"goes through a list item by item each time ({_shown(node)})")
    return None


def is_list(script: Script, expr: ast.expr, depth: int = 0) -> bool:
    """True if all that a name or attribute is set to are lists, and one of them is filled at run time."""
    name, holder = dotted(expr), script.holder(expr)
    if not name or depth > _DEPTH:
        return False
    scope: ast.AST = script.tree if "." in name or holder is None else holder
    values = [each for each in _values(scope, name) if not (isinstance(each, ast.Constant) and each.value is None)]
    if not values and holder is not None and scope is holder:
        arguments = [each.arg for each in holder.args.args]
        if name in arguments:
            return _given(script, holder, arguments.index(name), lambda each: is_list(script, each, depth + 1) or bool(_makes_list(script, each)))  # fmt: skip
        scope, values = script.tree, _values(script.tree, name)
    above = (script.above.get(each) for each in ast.walk(scope) if dotted(each) == name)
    grown = any(isinstance(each, ast.Attribute) and each.attr in ("append", "extend") for each in above)
    made = [_makes_list(script, each) for each in values]
    return bool(made) and all(each is not None for each in made) and (grown or any(made))


def _makes_list(script: Script, expr: ast.expr) -> bool | None:
    """None for what is no list; True for one whose length is not written here."""
    if isinstance(expr, ast.List):
        return False
    if isinstance(expr, ast.BinOp) and isinstance(expr.op, ast.Mult | ast.Add):
        return True if any(_makes_list(script, each) is not None for each in (expr.left, expr.right)) else None
    if isinstance(expr, ast.Call):
        made = ("split", "readlines", "splitlines", "tolist")
        of_method = isinstance(expr.func, ast.Attribute) and expr.func.attr in made
        return True if of_method or script.resolved(expr.func) in ("list", "sorted") else None
    return True if isinstance(expr, ast.ListComp) else None


def _values(scope: ast.AST, name: str) -> list[ast.expr]:
    """What a name is set to in a scope."""
    annotated = (each for each in ast.walk(scope) if isinstance(each, ast.AnnAssign) and dotted(each.target) == name)
    plain = [each.value for each in _assigned(scope) if name in map(dotted, each.targets)]
    return [*plain, *(each.value for each in annotated if each.value is not None)]


def _assigned(scope: ast.AST) -> list[ast.Assign]:
    return [each for each in ast.walk(scope) if isinstance(each, ast.Assign)]


def _given(script: Script, function: Definition, position: int, holds: Callable[[ast.expr], bool]) -> bool:
    """True if something holds for what all calls of a function give as an argument, and there are some."""
    method = isinstance(script.above.get(function), ast.ClassDef)
    given = []
    for call in ast.walk(script.tree):
        if isinstance(call, ast.Call) and dotted(call.func).rsplit(".", 1)[-1] == function.name:
            at = position - (method and isinstance(call.func, ast.Attribute))
            if not 0 <= at < len(call.args) or any(isinstance(each, ast.Starred) for each in call.args):
                return False
            given.append(call.args[at])
    return bool(given) and all(map(holds, given))


def _grown(script: Script, statement: ast.stmt, repeated: bool) -> Sign | None:
    """Arrays, tuples and lists that are made anew each time, longer by a little or shorter; not what the loop itself makes first."""
    loops = script.loops(statement)
    if not isinstance(statement, ast.Assign) or not loops:
        return None
    value, target = statement.value, ast.unparse(statement.targets[0])
    if any(each is not value for each in _values(loops[0], target)):
        return None
    longer = f"copies all of {target} to make it longer each time ({_shown(value)})"
    if isinstance(value, ast.Call) and script.resolved(value.func) in _named("growing"):
        arguments = (each for one in value.args for each in ast.walk(one) if isinstance(each, ast.expr))
        return _sign("grown", statement, longer) if target in map(ast.unparse, arguments) else None
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add) and isinstance(value.right, ast.List | ast.Tuple):
        return _sign("grown", statement, longer) if ast.unparse(value.left) == target else None
    if isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Slice) and isinstance(loops[0], ast.While):
        shorter = value.slice.upper is None and isinstance(value.slice.lower, ast.Constant)
        if shorter and ast.unparse(value.value) == target:
            return _sign("shifted", statement, f"copies all that is left of {target} each time")
    return None


def _whole(script: Script, statement: ast.stmt, repeated: bool) -> Sign | None:
    """Sums, smallest ones and the like of a list that grows by an item in the same loop."""
    for node in parts(statement):
        if not isinstance(node, ast.Call):
            continue
        sorts = isinstance(node.func, ast.Attribute) and node.func.attr == "sort"
        held = node.func.value if sorts and isinstance(node.func, ast.Attribute) else node.args[0] if node.args else None  # fmt: skip
        if held is None or not (sorts or script.resolved(node.func) in _named("whole")) or not (name := dotted(held)):
            continue
        for loop in script.loops(node):
            grows = any(isinstance(each, ast.Call) and dotted(each.func) == f"{name}.append" for each in ast.walk(loop))
            if grows and not _values(loop, name):
                return _sign("again", statement, f"goes through all of {name} each time ({_shown(node)}), and the loop appends to it")  # fmt: skip
    return None


# -- the same again --------------------------------------------------------------------------------------------


def _invariant(script: Script, statement: ast.stmt, repeated: bool) -> Sign | None:
    """Costly calls whose arguments do not change in the loop; what is called for nothing but its effect has one."""
    if isinstance(statement, ast.Expr):
        return None
    calls = [node for node in parts(statement) if isinstance(node, ast.Call)]
    function = script.holder(statement)
    for call in calls:
        name, loops, costly = script.resolved(call.func), script.loops(call), _is_costly(script, call)
        factorises = name in _named("factorising") and len(call.args) > 1
        alone = repeated and not loops and bool(call.args or call.keywords) and costly
        if function is not None and alone and _Same(script, function).holds(call):
            says = f"computes {_shown(call)} in each call, though nothing in it changes after the object was made"
            return _sign("same", statement, says, against=(_ONE_OBJECT,))
        for loop in reversed(loops if costly or factorises else []):
            same = _Same(script, loop)
            of = f" over {_shown(loop.target)}" if isinstance(loop, _FOR) else ""
            if costly and same.holds(call):
                others = (each for each in calls if each not in ast.walk(call) and _is_costly(script, each))
                mixed = any(not same.holds(each) for each in others)
                says = f"computes {_shown(call)} each time, though nothing in it changes in the loop{of}"
                return _sign("same", statement, says, against=(_MIXED,) if mixed else ())
            if factorises and same.holds(call.args[0]):
                matrix = _shown(call.args[0])
                return _sign("factorised", statement, f"factorises {matrix} each time ({name}), though it does not change in the loop{of}")  # fmt: skip
    return None


_ONE_OBJECT = "Whether it is the same object each time is not seen."
_MIXED = "Other calls at the line, whose time is in this, do change."


def _is_costly(script: Script, call: ast.Call) -> bool:
    own, name = script.own(call), script.resolved(call.func)
    if own is not None:
        return any(isinstance(each, _LOOPS) for each in ast.walk(own))
    through = name in _named("costly_builtins") and len(call.args) == 1
    return name.startswith(_named("costly")) or (
        through and not isinstance(call.args[0], ast.Constant | ast.List | ast.Tuple)
    )


def is_pure(script: Script, function: Definition) -> bool:
    """True if a function changes nothing but what it made itself and depends on its arguments alone, as far as its text shows."""
    if function not in script.pure:
        script.pure[function] = True  # of its calls of itself the other ones decide
        fresh = _fresh(function)
        script.pure[function] = all(_is_pure_step(script, node, fresh) for node in ast.walk(function))
    return script.pure[function]


def _is_pure_step(script: Script, node: ast.AST, fresh: frozenset[str]) -> bool:
    if isinstance(node, ast.Call):
        return script.is_pure_call(node, fresh)
    stores = isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del)
    target = node if stores else node.target if isinstance(node, ast.AugAssign) else None
    others = ast.Global | ast.Nonlocal | ast.Yield | ast.YieldFrom | ast.Await | ast.Lambda
    return not isinstance(node, others) and (target is None or _root(target) in fresh)


def _fresh(function: Definition) -> frozenset[str]:
    """The variables that a function sets to nothing but what it makes: results of calls and operations, lists and numbers."""
    made = (ast.Call, ast.BinOp, ast.UnaryOp, ast.Constant, ast.List, ast.Dict, ast.Set, ast.Tuple, *_COMPREHENSIONS)
    found: dict[str, bool] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                own = isinstance(target, ast.Name) and isinstance(node.value, made)
                stored = (each for each in ast.walk(target) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store))  # fmt: skip
                found |= {each.id: found.get(each.id, True) and own for each in stored}
        elif isinstance(node, (*_FOR, ast.comprehension)):
            found |= dict.fromkeys(_names(node.target), False)
        elif isinstance(node, ast.arg):
            found[node.arg] = False
    return frozenset(name for name, own in found.items() if own)


class _Same:
    """Which expressions have the same value each time a loop goes round."""

    def __init__(self, script: Script, loop: ast.AST) -> None:
        self.script = script
        self.set: dict[str, list[ast.expr | None]] = {}  # by name what it is set to, None where that cannot be said
        # Between calls of a function anything may be called; its arguments are others each time, but for the object.
        self.calls_unknown = isinstance(loop, _DEFINITIONS)
        if isinstance(loop, _DEFINITIONS):
            self.set |= {each.arg: [None] for each in loop.args.args if each.arg != "self"}
        for node in ast.walk(loop):
            if isinstance(node, ast.Call):
                self._called(node)
            elif isinstance(node, ast.Name | ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del):  # fmt: skip
                above = script.above.get(node)
                self._changed(node, above.value if isinstance(above, ast.Assign) else None)

    def _changed(self, node: ast.AST, value: ast.expr | None = None) -> None:
        while isinstance(node, ast.Subscript):
            node, value = node.value, None
        if name := dotted(node):
            self.set.setdefault(name, []).append(value)

    def _called(self, call: ast.Call) -> None:
        """Note what a call may change: its object, and what it is given."""
        if self.script.is_pure_call(call):
            return
        name = self.script.resolved(call.func)
        if isinstance(call.func, ast.Attribute) and not name:
            self._changed(call.func.value)
        self.calls_unknown |= "." not in name
        for each in call.args:
            self._changed(each)

    def holds(self, expr: ast.expr, depth: int = 0) -> bool:
        """True if an expression has the same value each time."""
        bound = {name for each in ast.walk(expr) if isinstance(each, ast.comprehension) for name in _names(each.target)}
        for node in ast.walk(expr):
            if isinstance(node, ast.Lambda | ast.Yield | ast.Await | ast.NamedExpr) or depth > _DEPTH:
                return False
            if isinstance(node, ast.Call) and not self.script.is_pure_call(node):
                return False
            if isinstance(node, ast.Name | ast.Attribute) and not self._is_same(node, bound, depth):
                return False
        return True

    def _is_same(self, node: ast.Name | ast.Attribute, bound: set[str], depth: int) -> bool:
        name, part = dotted(node), isinstance(self.script.above.get(node), ast.Attribute)
        first, *rest = name.split(".")
        if not name or part or first in bound or first in self.script.imported:
            return True  # of a longer name all of it is looked at
        heads = [".".join([first, *rest[:count]]) for count in range(len(rest) + 1)]
        values = [value for each in heads for value in self.set.get(each, [])]
        values += [None for each in self.set if each.startswith(f"{name}.")]
        if not values:
            return (rest != [] or first != "self") and (
                not rest or not self.calls_unknown or not self._is_set_later(rest[-1])
            )
        value, *others = values
        return not others and value is not None and first not in _names(value) and self.holds(value, depth + 1)

    def _is_set_later(self, attribute: str) -> bool:
        """True if an attribute of that name is set outside of what makes its object."""
        above = self.script.above
        stores = (
            each for each in ast.walk(self.script.tree)
            if isinstance(each, ast.Attribute) and each.attr == attribute
            and (isinstance(each.ctx, ast.Store | ast.Del) or isinstance(getattr(above.get(each), "ctx", None), ast.Store | ast.Del))
        )  # fmt: skip
        return any(holder is None or holder.name != "__init__" for holder in map(self.script.holder, stores))


def _recursive(script: Script, statement: ast.stmt, repeated: bool) -> Sign | None:
    """A function that calls itself twice or more with numbers less or more by a little, and remembers nothing."""
    function = script.holder(statement)
    if function is None or function.decorator_list:
        return None
    arguments = {each.arg for each in function.args.args}
    calls = [each for each in ast.walk(function) if isinstance(each, ast.Call) and script.own(each) is function]
    shown = list(dict.fromkeys(map(ast.unparse, calls)))
    if len(calls) < 2 or not all(any(_is_moved(each, arguments) for each in call.args) for call in calls):
        return None
    others = (each for each in ast.walk(function) if isinstance(each, ast.Call) and each not in calls)
    remembers = any(isinstance(each, ast.Subscript) and isinstance(each.ctx, ast.Store) for each in ast.walk(function))
    if remembers or not all(map(script.is_pure_call, others)):
        return None
    says = f"calls {' and '.join(shown[:2])}{'' if len(shown) > 1 else ' twice'}: the same arguments come up again and again, and no result is kept"
    return _sign("recursive", statement, says, (function.lineno, _end(function)))


def _is_moved(expr: ast.expr, names: set[str]) -> bool:
    return isinstance(expr, ast.BinOp) and isinstance(expr.op, ast.Add | ast.Sub) and dotted(expr.left) in names


# -- item by item ----------------------------------------------------------------------------------------------


def _rows(script: Script, statement: ast.stmt, repeated: bool) -> Sign | None:
    """Tables of pandas that are gone through row by row."""
    for around in (statement, *(each for each in script.loops(statement) if isinstance(each, _FOR))):
        for node in parts(around):
            method = node.func.attr if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else ""
            if not isinstance(node, ast.Call) or method not in ("iterrows", "apply"):
                continue
            axes = (getattr(each.value, "value", None) for each in node.keywords if each.arg == "axis")
            if method == "iterrows" or not {1, "columns"}.isdisjoint(axes):
                return _sign(
                    "rows", around, f"makes a Series of each row ({_shown(node)})", (around.lineno, _end(around))
                )
    return None


def _copied(script: Script, statement: ast.stmt, repeated: bool) -> Sign | None:
    """Copies of a whole list or array in which single elements are then changed, outside of loops over them."""
    function = script.holder(statement)
    if not isinstance(statement, ast.Assign) or function is None or not (repeated or script.loops(statement)):
        return None
    value, name = statement.value, dotted(statement.targets[0])
    sliced = (
        isinstance(value, ast.Subscript)
        and isinstance(value.slice, ast.Slice)
        and value.slice.lower is value.slice.upper is None
    )
    called = isinstance(value, ast.Call) and (
        (isinstance(value.func, ast.Attribute) and value.func.attr == "copy")
        or (len(value.args) == 1 and dotted(value.args[0]) != "" and script.resolved(value.func) in _named("copying"))
    )
    if not name or not (sliced or called):
        return None
    inner = len(script.loops(statement))
    held = (each for each in ast.walk(function) if isinstance(each, ast.Subscript) and isinstance(each.ctx, ast.Store))
    stores = [each for each in held if dotted(each.value) == name and not isinstance(each.slice, ast.Slice | ast.Tuple)]
    if not stores or any(len(script.loops(each)) > inner for each in stores):
        return None
    return _sign(
        "copied", statement, f"copies a whole list to change single elements of it ({_shown(statement)})", bounded=False
    )


def _called(script: Script, statement: ast.stmt, repeated: bool) -> Sign | None:
    """Calls that cost much by what they are, again and again: flushing, deep copies."""
    for node in parts(statement):
        if not isinstance(node, ast.Call) or not (repeated or script.loops(node)):
            continue
        name, keywords = script.resolved(node.func), {each.arg: each.value for each in node.keywords}
        method = node.func.attr if isinstance(node.func, ast.Attribute) and not name else ""
        shows = name == "print" and getattr(keywords.get("flush"), "value", False)
        if name in ("os.fsync", "os.fdatasync") or (method == "flush" and not node.args) or shows:
            return _sign("flushed", statement, f"waits each time until what was written is out ({_shown(node)})")
        if method in ("read", "readinto", "write") and isinstance(node.func, ast.Attribute):
            opened = _values(script.tree, dotted(node.func.value))
            if any(isinstance(each, ast.Call) and _is_unbuffered(script, each) for each in opened):
                return _sign("unbuffered", statement, f"goes to a file that has no buffer each time ({_shown(node)})")
        if name == "copy.deepcopy":
            return _sign(
                "deep",
                statement,
                f"copies all that an object holds, piece by piece, each time ({_shown(node)})",
                bounded=False,
            )
    return None


def _is_unbuffered(script: Script, call: ast.Call) -> bool:
    given = [each.value for each in call.keywords if each.arg == "buffering"] or call.args[2:3]
    return script.resolved(call.func) == "open" and any(
        isinstance(each, ast.Constant) and each.value == 0 for each in given
    )


def _parsed(script: Script, statement: ast.stmt, repeated: bool) -> Sign | None:
    """Numbers that are read from the pieces of a text, one by one."""
    for node in parts(statement):
        if not isinstance(node, ast.Call) or script.resolved(node.func) not in _named("reading"):
            continue
        origins, loops = [*node.args], script.loops(node)
        for _ in range(2 if loops else 0):
            names = _names(*origins)
            for each in ast.walk(loops[-1]):
                if isinstance(each, (*_FOR, ast.comprehension)) and names & _names(each.target):
                    origins.append(each.iter)
                elif isinstance(each, ast.Assign) and names & _names(*each.targets):
                    origins.append(each.value)
        if loops and any(isinstance(one, ast.Attribute) and one.attr == "split" for each in origins for one in ast.walk(each)):  # fmt: skip
            return _sign("parsed", statement, f"reads one number from a piece of text each time ({_shown(node)})")
    return None


def _by_element(script: Script, statement: ast.stmt, repeated: bool) -> Sign | None:
    """Arithmetic on single elements of arrays, with the loops' variables as indices; nothing where one iteration needs the one before."""
    holder = script.holder(statement)
    if any(word in ast.unparse(each) for each in (holder.decorator_list if holder is not None else ()) for word in _named("compiled")):  # fmt: skip
        return None
    for node in parts(statement):
        if not isinstance(node, ast.Subscript) or not _in_arithmetic(script, node):
            continue
        counted = {loop: names for loop in script.loops(node) if (names := _counted(script, loop))}
        name, indices = _element(node)
        whole = not name or any(isinstance(each, ast.Slice) for each in indices)
        variables = {each for names in counted.values() for each in names}
        if whole or not variables & _names(*indices) or _carries(loop := next(iter(counted)), variables):
            continue
        lines = (loop.lineno, _end(loop)) if isinstance(loop, _FOR) else None
        return _sign("elements", statement, f"takes {_shown(node)} and computes with it in Python, one element at a time", lines, interpreted=True)  # fmt: skip
    return None


def _counted(script: Script, loop: ast.AST) -> set[str]:
    """The variables that a loop counts on."""
    heads = loop.generators if isinstance(loop, _COMPREHENSIONS) else [loop] if isinstance(loop, _FOR) else []
    counting = (each for each in heads if isinstance(each.iter, ast.Call) and script.resolved(each.iter.func) in _named("counting"))  # fmt: skip
    return {name for each in counting for name in _names(each.target)}


def _element(node: ast.Subscript) -> tuple[str, list[ast.expr]]:
    """Name and indices of `a[i, j]` or `a[i][j]`."""
    indices: list[ast.expr] = []
    base: ast.expr = node
    while isinstance(base, ast.Subscript):
        indices += base.slice.elts if isinstance(base.slice, ast.Tuple) else [base.slice]
        base = base.value
    return dotted(base), indices


def _in_arithmetic(script: Script, node: ast.AST) -> bool:
    above = script.above.get(node)
    if isinstance(above, ast.Call):
        return script.resolved(above.func).startswith(("math.", "numpy."))
    return isinstance(above, ast.BinOp | ast.UnaryOp | ast.Compare | ast.AugAssign)


def _carries(loop: ast.AST, variables: set[str]) -> bool:
    """True if the loop reads an array that it writes, at another index than its variable."""
    elements = [each for each in ast.walk(loop) if isinstance(each, ast.Subscript)]
    written = {_element(each)[0] for each in elements if isinstance(each.ctx, ast.Store)}
    moved = (index for each in elements if _element(each)[0] in written for index in _element(each)[1])
    return any(isinstance(index, ast.BinOp) and _names(index) & variables for index in moved)


def _columns(script: Script, statement: ast.stmt, repeated: bool) -> Sign | None:
    """Columns of an array, taken one after the other: neighbours in them lie a row apart, unless the array is stored by columns."""
    loop = next((each for each in script.loops(statement) if isinstance(each, _FOR)), None)
    if not isinstance(loop, _FOR) or _is_short(loop):
        return None
    variables = _names(loop.target)
    taken = [each for name in _names(statement) for each in _values(loop, name)]
    for node in (one for each in (*parts(statement), *taken) for one in ast.walk(each)):
        indices = node.slice.elts if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple) else []
        if len(indices) < 2 or not isinstance(indices[-1], ast.Name) or indices[-1].id not in variables:
            continue
        if isinstance(indices[0], ast.Slice) and indices[0].lower is None and indices[0].upper is None:
            text = ast.unparse(script.tree)
            turned = any(word in text for word in ("order=", ".T", "transpose", "asfortranarray"))
            held = {name for each in _assigned(loop) if node in ast.walk(each.value) for name in _names(*each.targets)}
            using = [each for each in loop.body if node in ast.walk(each) or held & _names(each)]
            says = f"works on the column {_shown(node)}, whose neighbours lie a row apart in memory"
            return _sign("columns", statement, says, (using[0].lineno, _end(using[-1])), suspected=turned)
    return None


def _is_short(loop: ast.For | ast.AsyncFor) -> bool:
    last = loop.iter.args[-1] if isinstance(loop.iter, ast.Call) and loop.iter.args else None
    return isinstance(last, ast.Constant) and isinstance(last.value, int) and last.value <= UNROLLED


_LOOKS = (_searched, _grown, _whole, _recursive, _invariant, _rows, _called, _copied, _parsed, _columns, _by_element)
