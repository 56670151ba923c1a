from __future__ import annotations

import jsonschema
import pytest

from chathpc.errors import UsageError
from chathpc.prompts.loader import parse, template

GOOD = "version: 1\nsystem: Explain.\nuser: '{facts}'\nprompt_tokens: 10\noutput_tokens: 5\n"


def test_the_forms_have_the_limits_of_the_design() -> None:
    prose, structured = template("prose"), template("structured")
    assert (prose.prompt_tokens, prose.output_tokens, prose.json_schema) == (1200, 180, None)
    assert structured.prompt_tokens == 8000


def test_the_schema_of_the_structured_form_takes_sentences_with_evidence_ids_and_nothing_else() -> None:
    schema = template("structured").json_schema
    assert schema is not None
    jsonschema.Draft202012Validator.check_schema(dict(schema))
    validator = jsonschema.Draft202012Validator(dict(schema))
    assert validator.is_valid({"sentences": [{"text": "Threads wait {E1}.", "evidence": ["E1"]}]})
    for bad in ({}, {"sentences": []}, {"sentences": [{"text": "x"}]}, {"sentences": [{"text": "x", "evidence": ["3"]}]}):
        assert not validator.is_valid(bad)


def test_values_are_put_in_literally() -> None:
    assert parse("x", GOOD).fill(facts="{user} {0} %s") == "{user} {0} %s"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (GOOD.replace("version: 1", "version: one"), "version must be a whole number"),
        (GOOD.replace("system: Explain.", "system: 'Explain {facts}.'"), "system text must be constant"),
        (GOOD + "colour: red\n", "unknown keys: colour"),
        (GOOD + "json_schema: 3\n", "json_schema must be a mapping"),
        (GOOD.replace("output_tokens: 5", "output_tokens: 0"), "limits must be positive"),
        (GOOD.replace("'{facts}'", "'{facts'"), "unbalanced braces"),
        ("- a\n", "not a mapping"),
        ("a: [", "not YAML"),
    ],
)
def test_a_wrong_template_is_refused_with_the_key_that_is_wrong(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse("x", text).fill(facts="")


def test_an_unknown_template_or_field_is_refused() -> None:
    with pytest.raises(UsageError, match="no prompt template"):
        template("../prose")
    with pytest.raises(UsageError, match="needs the fields facts, not other"):
        parse("x", GOOD).fill(other="")
