"""What is wrong with a value or a key is said in words of ours, and the key that was meant is named."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from pydantic_core import PydanticCustomError
from pydantic_core.core_schema import ErrorType

from chathpc.validation import EXPECTED, expected, first_problem, nearest, words

ROOT = Path(__file__).parents[1] / "chathpc"


class Inner(BaseModel):
    model_config = ConfigDict(extra="forbid")
    size: Annotated[int, Field(ge=1, le=9)] = 1


class Values(BaseModel):
    model_config = ConfigDict(extra="forbid")
    text: Annotated[str, Field(min_length=1, max_length=3, pattern="^[a-z]*$")] = "a"
    number: Annotated[float, Field(gt=0, lt=1, allow_inf_nan=False)] = 0.5
    strict: Annotated[int, Field(strict=True)] = 1
    flag: bool = True
    choice: Literal["a", "b", "c"] = "a"
    only: Literal["x"] = "x"
    items: Annotated[list[int], Field(min_length=1, max_length=2)] = [1]  # pydantic copies it
    table: dict[str, int] = {}
    inner: Inner = Inner()
    checked: int = 1
    own: int = 1

    @field_validator("checked")
    @classmethod
    def _even(cls, value: int) -> int:
        if value == 3:
            raise ValueError("expected no three")
        return value

    @field_validator("own")
    @classmethod
    def _own(cls, value: int) -> int:
        if value == 3:
            raise PydanticCustomError("own", "expected no {what}", {"what": "three"})
        return value


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"text": ""}, "text: expected a text that is not empty, found ''"),
    ({"text": "abcd"}, "text: expected a text of at most 3 characters, found 'abcd'"),
    ({"text": "A"}, "text: expected a text of the form ^[a-z]*$, found 'A'"),
    ({"text": 3}, "text: expected a text, found 3"),
    ({"number": "x"}, "number: expected a number, found 'x'"),
    ({"number": 0}, "number: expected a number above 0, found 0"),
    ({"number": 1}, "number: expected a number below 1, found 1"),
    ({"number": float("nan")}, "number: expected a number, found nan"),
    ({"strict": 1.5}, "strict: expected a whole number, found 1.5"),
    ({"strict": True}, "strict: expected a whole number, found True"),
    ({"flag": "perhaps"}, "flag: expected true or false, found 'perhaps'"),
    ({"choice": "d"}, "choice: expected 'a', 'b' or 'c', found 'd'"),
    ({"only": "y"}, "only: expected 'x', found 'y'"),
    ({"items": []}, "items: expected a list that is not empty, found []"),
    ({"items": [1, 2, 3]}, "items: expected at most 2 items, found [1, 2, 3]"),
    ({"items": 3}, "items: expected a list, found 3"),
    ({"items": [1, "x"]}, "items.2: expected a whole number, found 'x'"),
    ({"table": 3}, "table: expected keys with values, found 3"),
    ({"inner": 3}, "inner: expected keys with values, found 3"),
    ({"inner": {"size": 0}}, "inner.size: expected a number of at least 1, found 0"),
    ({"inner": {"size": 10}}, "inner.size: expected a number of at most 9, found 10"),
    ({"inner": {"sizze": 10}}, "inner.sizze: there is no such key"),
    ({"checked": 3}, "checked: expected no three, found 3"),
    ({"own": 3}, "own: expected no three, found 3"),
]


@pytest.mark.parametrize(("given", "said"), WRONG, ids=[said.partition(",")[0] for _, said in WRONG])
def test_a_wrong_value_is_told_with_what_was_expected_and_found(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Values.model_validate(given)
    assert words(caught.value) == said
    assert "input" not in said.lower()


def test_a_secret_is_not_shown() -> None:
    with pytest.raises(ValidationError) as caught:
        Values.model_validate({"number": "sk-secret"})
    assert expected(first_problem(caught.value), show=False) == "expected a number"


def test_text_that_is_no_json_is_called_so() -> None:
    with pytest.raises(ValidationError) as caught:
        Values.model_validate_json("{")
    assert words(caught.value) == "not JSON"


def test_every_known_kind_of_problem_is_one_of_pydantics() -> None:
    assert set(EXPECTED) <= set(get_args(ErrorType))


def test_a_long_or_hostile_value_is_cut_and_escaped() -> None:
    with pytest.raises(ValidationError) as caught:
        Values.model_validate({"number": "\x1b[31m" + "x" * 5000})
    said = words(caught.value)
    assert "\x1b" not in said
    assert len(said) < 150


@pytest.mark.parametrize(
    ("word", "near"),
    [("sizze", "size"), ("Base-URL", "base_url"), ("gpulayers", "gpu_layers"), ("qqq", ""), ("x" * 5000, "")],
)
def test_a_misspelt_key_is_told_apart(word: str, near: str) -> None:
    assert nearest(word, ["size", "base_url", "gpu_layers"]) == near


def test_nobody_prints_what_pydantic_says() -> None:
    """Its messages stand under `msg`; chathpc.validation alone reads them."""
    readers = [
        file.relative_to(ROOT).as_posix()
        for file in ROOT.rglob("*.py")
        if '["msg"]' in (text := file.read_text(encoding="utf-8")) or "['msg']" in text
    ]
    assert readers == ["validation.py"]
