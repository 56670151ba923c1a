"""Tables that chathpc brings with it as YAML files."""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING, Any

import yaml

__all__ = ["FastLoader", "table"]

if TYPE_CHECKING:
    from yaml import SafeLoader as FastLoader
else:
    # libyaml parses ten times faster, which the start of every command shows; PyYAML can be built without it.
    FastLoader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def table(package: str, name: str) -> Any:
    """The plain values of a YAML file beside the modules of `package`."""
    text = resources.files(package).joinpath(name).read_text("utf-8")
    return yaml.load(text, Loader=FastLoader)  # noqa: S506, TID251 (one of the two safe loaders)
