"""The prompt templates: YAML files of this package, checked when they are read."""

from __future__ import annotations

import string
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from chathpc.errors import UsageError


@dataclass(frozen=True, slots=True)
class Template:
    """A prompt: constant `system` text, `user` text with `{fields}`, limits in tokens, and the answer's JSON schema if it has one."""

    name: str
    version: int
    system: str
    user: str
    prompt_tokens: int
    output_tokens: int
    json_schema: Mapping[str, Any] | None

    def fill(self, **fields: str) -> str:
        """The user text with its fields; values are put in literally. Raises UsageError if a field is missing or unknown."""
        wanted = _fields(self.user)
        if wanted != set(fields):
            raise UsageError(f"Prompt {self.name} needs the fields {', '.join(sorted(wanted))}, not {', '.join(sorted(fields))}.")
        parts = []
        for literal, field, _, _ in string.Formatter().parse(self.user):
            parts.append(literal + (fields[field] if field is not None else ""))
        return "".join(parts)


_TYPES: dict[str, type] = {"version": int, "system": str, "user": str, "prompt_tokens": int, "output_tokens": int}


@cache
def template(name: str) -> Template:
    """The template `name`.yaml of this package. Raises UsageError if there is none or it is not well formed."""
    source = files(__package__) / f"{name}.yaml"
    if not name.isidentifier() or not source.is_file():
        raise UsageError(f"There is no prompt template {name!r}.")
    return parse(name, source.read_text(encoding="utf-8"))


def parse(name: str, text: str) -> Template:
    """A template from YAML text. Raises UsageError that names the wrong key."""
    import yaml

    try:
        data = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise UsageError(f"Prompt template {name} is not YAML: {str(error).splitlines()[0]}.") from error
    if not isinstance(data, dict):
        raise UsageError(f"Prompt template {name} is not a mapping.")
    for key, kind in _TYPES.items():
        if not isinstance(data.get(key), kind) or isinstance(data.get(key), bool):
            raise UsageError(f"Prompt template {name}: {key} must be {'text' if kind is str else 'a whole number'}.")
    unknown = set(data) - set(_TYPES) - {"json_schema"}
    if unknown:
        raise UsageError(f"Prompt template {name} has unknown keys: {', '.join(sorted(map(str, unknown)))}.")
    schema = data.get("json_schema")
    if schema is not None and not isinstance(schema, dict):
        raise UsageError(f"Prompt template {name}: json_schema must be a mapping.")
    if min(data["prompt_tokens"], data["output_tokens"]) <= 0:
        raise UsageError(f"Prompt template {name}: limits must be positive.")
    if _fields(data["system"]):
        raise UsageError(f"Prompt template {name}: the system text must be constant.", hint="Data belongs into the user text.")
    return Template(
        name, data["version"], data["system"].strip(), data["user"].strip(), data["prompt_tokens"], data["output_tokens"], schema
    )


def _fields(text: str) -> set[str]:
    try:
        return {field for _, field, _, _ in string.Formatter().parse(text) if field is not None}
    except ValueError as error:
        raise UsageError(f"A prompt text has unbalanced braces: {error}.") from error
