"""What pydantic finds wrong with keys and values, in words for those who wrote them.

Its own sentences (`Input should be a valid string`) are about Python, not about what somebody wrote into a file or sent to a tool.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, get_args

from chathpc.profile.text import clean

if TYPE_CHECKING:
    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

#: What was expected, by pydantic's name of the problem; braces are its figures.
EXPECTED = {
    "missing": "it is missing",
    "extra_forbidden": "there is no such key",
    "unexpected_keyword_argument": "there is no such key",
    "json_invalid": "not JSON",
    "json_type": "not JSON",
    "model_type": "expected keys with values",
    "model_attributes_type": "expected keys with values",
    "dataclass_type": "expected keys with values",
    "dict_type": "expected keys with values",
    "mapping_type": "expected keys with values",
    "list_type": "expected a list",
    "tuple_type": "expected a list",
    "set_type": "expected a list",
    "frozen_set_type": "expected a list",
    "iterable_type": "expected a list",
    "string_type": "expected a text",
    "string_unicode": "expected a text",
    "string_too_short": "expected a text of at least {min_length} characters",
    "string_too_long": "expected a text of at most {max_length} characters",
    "string_pattern_mismatch": "expected a text of the form {pattern}",
    "too_short": "expected at least {min_length} items",
    "too_long": "expected at most {max_length} items",
    "int_type": "expected a whole number",
    "int_parsing": "expected a whole number",
    "int_parsing_size": "expected a smaller number",
    "int_from_float": "expected a whole number",
    "float_type": "expected a number",
    "float_parsing": "expected a number",
    "finite_number": "expected a number",
    "bool_type": "expected true or false",
    "bool_parsing": "expected true or false",
    "none_required": "expected nothing",
    "greater_than": "expected a number above {gt}",
    "greater_than_equal": "expected a number of at least {ge}",
    "less_than": "expected a number below {lt}",
    "less_than_equal": "expected a number of at most {le}",
    "literal_error": "expected {expected}",
    "enum": "expected {expected}",
}
#: The same for a least length of 1.
_NOT_EMPTY = {"string_too_short": "expected a text that is not empty", "too_short": "expected a list that is not empty"}
#: A key that a model, or a dataclass, does not have.
UNKNOWN = ("extra_forbidden", "unexpected_keyword_argument")
#: Of these nothing that was found has to be shown.
_NOTHING_FOUND = ("missing", *UNKNOWN, "json_invalid", "json_type")
_LONGEST_VALUE, _LONGEST_WORD = 80, 100


def first_problem(error: ValidationError) -> ErrorDetails:
    """The first problem; its `loc` is where it is. A key that nobody knows and that is spelt like the one that is missing explains that."""
    first, *others = error.errors(include_url=False)
    above, key = first["loc"][:-1], str(first["loc"][-1]) if first["loc"] else ""
    for other in others if first["type"] == "missing" else ():
        if other["type"] in UNKNOWN and other["loc"][:-1] == above and nearest(str(other["loc"][-1]), [key]):
            return other
    return first


def expected(problem: ErrorDetails, *, show: bool = True) -> str:
    """What was expected and, if it may be shown, what was found: `expected a number, found 'x'`."""
    kind = problem["type"]
    figures = problem.get("ctx", {})
    said = _NOT_EMPTY.get(kind, "") if figures.get("min_length") == 1 else ""
    if kind in ("value_error", "assertion_error"):  # a check of ours, in our words
        said = str(figures.get("error", "")) or "expected another value"
    elif kind in EXPECTED:
        said = said or EXPECTED[kind].format(**{name: _figure(value) for name, value in figures.items()})
    elif _is_pydantics(kind):
        said = "expected another kind of value"
    else:  # a check of ours with a name of its own
        said = problem["msg"]
    if kind in _NOTHING_FOUND or not show or not said.startswith("expected"):
        return clean(said)
    found = repr(problem["input"])
    found = found if len(found) <= _LONGEST_VALUE else f"{found[:_LONGEST_VALUE]}…"
    return clean(f"{said}, found {found}")


def place(problem: ErrorDetails) -> str:
    """Where a problem is: `project.inputs.2.run`, items counted from 1."""
    parts = (str(part + 1) if isinstance(part, int) else part for part in problem["loc"])
    return clean(".".join(parts))[:_LONGEST_WORD]


def words(error: ValidationError, *, show: bool = True) -> str:
    """The first problem in one phrase: `limit: expected a whole number, found 'x'`."""
    problem = first_problem(error)
    where = place(problem)
    said = expected(problem, show=show)
    return f"{where}: {said}" if where else said


def nearest(word: str, known: Iterable[str]) -> str:
    """The known key that was most likely meant; empty if none is near."""
    from difflib import get_close_matches

    plain = {key.lower(): key for key in known}
    close = get_close_matches(word[:_LONGEST_WORD].lower().replace("-", "_"), plain, n=1)
    return plain[close[0]] if close else ""


def _figure(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _is_pydantics(kind: str) -> bool:
    from pydantic_core.core_schema import ErrorType

    return kind in get_args(ErrorType)
