"""What models said, with its fate, where a reader asks for it."""

from __future__ import annotations

import pytest

from chathpc.reports import renderers
from chathpc.reports.style import Style
from tests.reports.sample import sample


def rendered(form: str, *, model: str | None = None, reader: str | None = None, statements: bool = True) -> str:
    text = renderers()[form](sample(model=model, reader=reader), Style(width=100, statements=statements))
    return " ".join(text.split("Statements", 1)[-1].split())


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_each_statement_stands_with_what_became_of_it(form: str) -> None:
    told = rendered(form, model="a model")
    assert "The program is limited by memory bandwidth. (retold: most of its words are not the fact's)" in told
    assert "(retold: printed)" in told
    read = rendered(form, reader="a model")
    assert "is a number that is no slot)" in read
    assert "(reading: printed)" in read


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_each_hypothesis_stands_with_what_became_of_it(form: str) -> None:
    read = rendered(form, reader="a model")
    assert "(printed)" in read
    assert "(not printed: rated unlikely, 4.55 % of the run)" in read  # 0.41 s of 9.01 s


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_statements_that_were_dropped_are_shown_only_when_asked_for(form: str) -> None:
    assert "memory bandwidth" not in rendered(form, model="a model", statements=False)


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_without_a_model_there_is_nothing_to_show(form: str) -> None:
    assert "No model contributed." in rendered(form)
