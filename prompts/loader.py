"""Reads the prompt templates, and refuses one that lacks a part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from chathpc.errors import UsageError

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
    """The template of a prompt form (`prose`, `structured`) for an audience (`expert`, `newcomer`, `manager`), where it has several.

    UsageError if there is none, or if a part is missing.
    """
    import yaml

    path = _FOLDER / f"{form}.yaml"
    if not form.isidentifier() or not path.is_file():
        known = ", ".join(sorted(one.stem for one in _FOLDER.glob("*.yaml")))
        raise UsageError(f"There is no prompt form '{form}'.", hint=f"Known forms: {known}.")
    data = yaml.safe_load(path.read_text("utf-8"))
    parts = {
        "form": str,
        "system": str,
        "task": str,
        "max_prompt_tokens": int,
        "max_output_tokens": int,
        "key_lines": int,
    }
    for key, kind in parts.items():
        if not isinstance(data, dict) or not isinstance(data.get(key), kind):
            raise UsageError(f"The prompt {path.name} has no '{key}'.", hint="Compare it with the other prompts.")
    system = data["system"]
    if "audiences" in data:
        reader = data["audiences"].get(audience)
        if not isinstance(reader, dict) or not all(isinstance(reader.get(key), str) for key in ("reader", "scope")):
            raise UsageError(f"The prompt {path.name} has no audience '{audience}' with 'reader' and 'scope'.")
        system = system.replace("{reader}", reader["reader"]).replace("{scope}", reader["scope"])
    return Template(**{**{key: data[key] for key in parts}, "system": system}, schema=data.get("schema"))
