"""Reads the prompt templates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from chathpc.errors import UsageError
from chathpc.packaged import table

#: Who reads the explanation.
Audience = Literal["expert", "newcomer", "manager"]

_FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Template:
    """A prompt form for an audience: constant text first, so that the prefix cache of a local engine can serve it; limits in tokens.

    `key_lines` is the largest number of facts; `schema` the JSON schema of the answer, null for plain text.
    """

    form: str
    system: str
    task: str
    max_prompt_tokens: int
    max_output_tokens: int
    key_lines: int
    schema: Mapping[str, object] | None


@cache
def template(form: str, audience: str = "expert") -> Template:
    """The template of a prompt form (`prose`, `reading`) for an audience (`expert`, `newcomer`, `manager`), where it has several.

    UsageError if there is none.
    """
    if not form.isidentifier() or not (_FOLDER / f"{form}.yaml").is_file():
        known = ", ".join(sorted(one.stem for one in _FOLDER.glob("*.yaml")))
        raise UsageError(f"There is no prompt form '{form}'.", hint=f"Known forms: {known}.")
    data = table("chathpc.prompts", f"{form}.yaml")
    for name, words in data.pop("audiences", {}).get(audience, {}).items():
        data["system"] = data["system"].replace(f"{{{name}}}", words)
    return Template(**{"schema": None, **data})
