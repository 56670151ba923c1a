"""Tables that chathpc brings with it as YAML files."""

from __future__ import annotations

from importlib import resources
from typing import Any

import yaml

# libyaml is ten times faster, which the start of every command shows; PyYAML can be built without it.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def table(package: str, name: str) -> Any:
    """The plain values of a YAML file beside the modules of `package`."""
    text = resources.files(package).joinpath(name).read_text("utf-8")
    return yaml.load(text, Loader=_LOADER)  # noqa: S506, TID251 (one of the two safe loaders)
