"""Folders of a user: settings, cache and state, after the XDG Base Directory Specification."""

from __future__ import annotations

import os
import pwd
from collections.abc import Mapping
from pathlib import Path


def home(environ: Mapping[str, str]) -> Path | None:
    """The user's home folder; None where there is none, as in some batch jobs and containers."""
    named = environ.get("HOME", "")
    if named:
        return Path(named) if named.startswith("/") else None
    try:
        entry = pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        return None
    return Path(entry) if entry.startswith("/") else None


def _base(environ: Mapping[str, str], variable: str, below_home: str) -> Path | None:
    named = environ.get(variable, "")
    if named.startswith("/"):  # the specification has relative paths ignored
        return Path(named)
    folder = home(environ)
    return None if folder is None else folder / below_home


def config_file(environ: Mapping[str, str]) -> Path | None:
    """The user's settings file, whether or not it exists; None without a home folder."""
    base = _base(environ, "XDG_CONFIG_HOME", ".config")
    return None if base is None else base / "chathpc" / "config.yaml"


def cache_folder(environ: Mapping[str, str]) -> Path | None:
    """Where chathpc keeps what can be fetched or measured again; None without a home folder."""
    base = _base(environ, "XDG_CACHE_HOME", ".cache")
    return None if base is None else base / "chathpc"


def state_folder(environ: Mapping[str, str]) -> Path | None:
    """Where chathpc keeps what happened, such as the log of prompts; None without a home folder."""
    base = _base(environ, "XDG_STATE_HOME", ".local/state")
    return None if base is None else base / "chathpc"
