"""Settings, each with its origin: which model words a report, and where a user's own patterns are.

    options  >  CHATHPC_* variables  >  ./chathpc.yaml  >  the user's config.yaml  >  /etc/chathpc/config.yaml

Two keys stand above that order. `pin: true` in the site's file makes its `llm` and `base_url` final and its `confidential` the
least that a user may choose, and `hosted: false`, in any file or variable, forbids models on other machines. `llm: none` is always
allowed.

A ./chathpc.yaml may have come with somebody else's profile. It may choose among local models, but says nothing about where
data are sent, which key goes with them and which files are loaded (weights, patterns). Its key `project` is about the program in
that folder (chathpc.fix) and passed over here.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, ValidationError

from chathpc import validation
from chathpc.errors import UsageError
from chathpc.llm.places import config_file
from chathpc.llm.price import Price
from chathpc.privacy.placeholders import Mode
from chathpc.profile.text import clean

SITE_FILE = Path("/etc/chathpc/config.yaml")
PROJECT_FILE = "chathpc.yaml"
#: Key of that file that is no setting: how the program in its folder is built and run (chathpc.fix).
PROJECT_KEY = "project"
#: What stands below it, to say so of a key that does not (chathpc.fix reads them).
PROJECT_KEYS = (
    "build", "run", "edit", "protect", "flags", "inputs", "check", "threads", "launcher", "profile", "gpu", "limits", "allow",
    "kernels",
)  # fmt: skip

#: Settings files are a few lines; a larger one is a mistake or an attack (bytes).
_LARGEST_FILE = 65_536

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=4096)]


def _path(value: object) -> object:
    """A path as somebody wrote it."""
    if not isinstance(value, str | Path) or not str(value).strip():
        raise ValueError("expected a path")
    return Path(str(value).strip()).expanduser()


Folder = Annotated[Path, BeforeValidator(_path)]


class Values(BaseModel):
    """What a settings file may say."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    llm: Text = Field(default="auto", description="Which model, as for --llm.")
    base_url: Text | None = Field(default=None, description="Endpoint of an OpenAI-compatible server.")
    api_key_file: Folder | None = Field(default=None, description="File with the key, readable by its owner alone.")
    models: Folder | None = Field(default=None, description="Folder with the weights of local models.")
    mirror: Text | None = Field(default=None, description="Folder or URL to fetch weights from before anything else.")
    deadline: float = Field(default=60.0, gt=0, le=86_400, description="Seconds for one answer.")
    context: int = Field(default=4096, ge=512, le=1_048_576, description="Context of a local model, tokens.")
    threads: int | None = Field(default=None, ge=1, le=1024, description="Threads of a local model.")
    gpu_layers: int = Field(default=0, ge=-1, le=10_000, description="Layers on the GPU; -1: all.")
    form: Literal["prose", "structured"] | None = Field(
        default=None, description="Prompt form, instead of what is known."
    )
    prices: Mapping[Text, Price] = Field(
        default={}, description="Model: {input: …, output: …}, money for a million tokens; only in files."
    )
    currency: Text = Field(default="USD", max_length=8, description="Of the prices; USD if not set.")
    spend: float | None = Field(
        default=None, ge=0, description="Most money that one answer of a hosted model may cost."
    )
    audience: Literal["expert", "newcomer", "manager"] = Field(
        default="expert", description="Who reads the explanation."
    )
    patterns: Folder | None = Field(default=None, description="Folder with your own performance-problem patterns.")
    source: tuple[Folder, ...] = Field(
        default=(), max_length=100, description="Folders with source that profiles do not bring; only in files."
    )
    confidential: Mode = Field(
        default="default", description="What hosted models get placeholders for: default, all or none."
    )
    log: bool = Field(default=True, description="False keeps no log of prompts and answers.")
    hosted: bool = Field(default=True, description="False forbids models on other machines.")
    pin: bool = Field(
        default=False,
        description="Only in the site's file: its llm and base_url are final, its confidential the least.",
    )


class Settings(Values):
    """The settings in force; `origins` says for each key that is set where it comes from, `pinned` is the one `llm` that the site allows."""

    pinned: str | None = None
    origins: Mapping[str, str] = Field(default={})


#: Not taken from ./chathpc.yaml.
_NOT_FROM_PROJECT = (
    "base_url",
    "api_key_file",
    "models",
    "mirror",
    "patterns",
    "source",
    "prices",
    "currency",
    "spend",
    "confidential",
    "log",
)
_ONLY_IN_FILES = ("pin", "prices", "source")
_PINNED = ("llm", "base_url", "confidential")
#: From the least that is concealed to the most.
_STRICTER = ("none", "default", "all")


@dataclass(frozen=True, slots=True)
class _Layer:
    origin: Mapping[str, str]
    values: Mapping[str, object]
    explicit: bool = False  # a person said it just now: contradicting the site is an error, not a default overridden


def load_settings(
    options: Mapping[str, object] | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    site: Path = SITE_FILE,
) -> Settings:
    """The settings in force.

    `options` are those of the command line by key (`base_url`); null ones count as not given. Raises UsageError, which
    names the file and the key, for a key that does not exist, a value of the wrong kind, and what the site does not allow.
    """
    environ = os.environ if environ is None else environ
    user = config_file(environ)
    project = (Path.cwd() if cwd is None else cwd) / PROJECT_FILE
    layers = [
        _from_options(options or {}),
        _from_environment(environ),
        _from_project(project),
        _from_file(user) if user is not None else _Layer({}, {}),
        _from_file(site),
    ]
    for layer in layers[:-1]:
        if "pin" in layer.values:
            raise UsageError(f"{layer.origin['pin']}: 'pin' is for the site's file alone ({site}).")
    return _merge(layers)


def _merge(layers: list[_Layer]) -> Settings:
    site = layers[-1]
    final = [key for key in _PINNED if site.values.get("pin") and key in site.values]
    values: dict[str, object] = {}
    origins: dict[str, str] = {}
    if "llm" in final:
        values["pinned"], origins["pinned"] = site.values["llm"], site.origin["llm"]
    for layer in layers:
        for key, value in layer.values.items():
            if key == "hosted":
                if value is False and values.get("hosted", True) is True:
                    values[key], origins[key] = value, layer.origin[key]
            elif key == "pin" or (key == "llm" and value == "auto"):
                continue  # auto means: whatever the next layer says
            elif key in final and layer is not site and not _allowed(key, value, site.values[key]):
                if layer.explicit and value != site.values[key]:
                    raise UsageError(
                        f"{layer.origin[key]} asks for '{_shown(value)}', but this site has settled on "
                        f"'{_shown(site.values[key])}' ({site.origin[key]}).",
                        hint="Omit it, or use --llm none.",
                    )
            elif key not in values:
                values[key], origins[key] = value, layer.origin[key]
    return Settings.model_validate({**values, "origins": origins})


def _allowed(key: str, value: object, pinned: object) -> bool:
    """Whether a user may choose `value` though the site has pinned another: no model, or more confidential, is always right."""
    if key == "confidential":
        return _STRICTER.index(str(value)) >= _STRICTER.index(str(pinned))
    return key == "llm" and value == "none"


def _from_options(options: Mapping[str, object]) -> _Layer:
    given = {key: value for key, value in options.items() if value is not None and value != ()}
    origins = {key: "--" + key.replace("_", "-") for key in given}
    return _Layer(origins, _checked(given, origins), explicit=True)


def _from_environment(environ: Mapping[str, str]) -> _Layer:
    names = {key: f"CHATHPC_{key.upper()}" for key in Values.model_fields if key not in _ONLY_IN_FILES}
    if not environ.get("CHATHPC_BASE_URL"):
        names["base_url"] = "OPENAI_BASE_URL"
    given = {key: environ[name] for key, name in names.items() if environ.get(name)}
    return _Layer(names, _checked(given, names), explicit=True)


def _from_project(path: Path) -> _Layer:
    layer = _from_file(path, ignored=PROJECT_KEY)
    refused = [key for key in _NOT_FROM_PROJECT if key in layer.values]
    llm = str(layer.values.get("llm", ""))
    if "openai:" in llm or "/" in llm:
        refused.append("llm")
    for key in refused:
        _tell_ignored(path, key)
    return _Layer(layer.origin, {key: value for key, value in layer.values.items() if key not in refused})


@cache  # settings are loaded several times by a command
def _tell_ignored(path: Path, key: str) -> None:
    """A stranger's file stops no command, and is not obeyed."""
    logging.getLogger("chathpc").warning(
        "chathpc: %s: '%s' is ignored in this file: it may come from an untrusted profile. "
        "Put it into your own config.yaml, a CHATHPC_ variable or an option.",
        clean(str(path)),
        key,
    )


def _from_file(path: Path, ignored: str | None = None) -> _Layer:
    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST_FILE + 1)
    except (FileNotFoundError, NotADirectoryError):
        return _Layer({}, {})
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}.") from error
    if len(data) > _LARGEST_FILE:
        raise UsageError(f"{path}: larger than {_LARGEST_FILE} bytes; this is not a settings file.")
    try:
        content = yaml.safe_load(data)
    except (yaml.YAMLError, UnicodeDecodeError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        line = "" if mark is None else f", line {mark.line + 1}"
        raise UsageError(f"{path}{line}: not valid YAML.") from None
    if content is None:
        return _Layer({}, {})
    if not isinstance(content, dict):
        raise UsageError(f"{path}: expected lines of the form 'key: value'.")
    given = {str(key): value for key, value in content.items() if value is not None and key != ignored}
    origins = {key: f"{path}, {key}" for key in given}
    return _Layer(origins, _checked(given, origins, path))


def _checked(given: Mapping[str, object], origins: Mapping[str, str], path: Path | None = None) -> dict[str, object]:
    """The values in their types. Errors never show a value: it could be a key in the wrong place."""
    try:
        values = Values.model_validate(dict(given))
        return {key: getattr(values, key) for key in given}
    except ValidationError as error:
        problem = validation.first_problem(error)
    key = str(problem["loc"][0])
    where = origins.get(key, key) if path is None else str(path)
    if problem["type"] != "extra_forbidden":
        said = validation.expected(problem, show=False)
        raise UsageError(f"{where}: '{validation.place(problem)}' is wrong: {said}.", hint=_meaning(key))
    wrong = str(problem["loc"][-1])
    if len(problem["loc"]) > 1:
        raise UsageError(f"{where}: there is no key '{validation.place(problem)}'.", hint=_meaning(key))
    if wrong == PROJECT_KEY:
        raise UsageError(
            f"{where}: '{wrong}' is not a setting.",
            hint=f"A program is described in the {PROJECT_FILE} of its own folder, and nowhere else.",
        )
    raise UsageError(f"{where}: there is no setting '{clean(wrong)[:80]}'.", hint=_meant(wrong, path))


def _meaning(key: str) -> str:
    """What a setting says."""
    field = Values.model_fields.get(key)
    return f"{key}: {field.description}" if field is not None else ""


def _meant(key: str, path: Path | None) -> str:
    """The key that was probably meant by one that does not exist, or where it belongs."""
    if key.lower().replace("-", "_") in {"api_key", "key", "openai_api_key", "token"}:
        return "Keys are not kept in settings: use OPENAI_API_KEY, or api_key_file with a file of mode 0600."
    here = path is not None and path.name == PROJECT_FILE
    near = validation.nearest(key, (*Values.model_fields, *((PROJECT_KEY, *PROJECT_KEYS) if here else ())))
    if near in PROJECT_KEYS and near not in Values.model_fields:
        return below_project(near, known=near == key)
    return f"Did you mean '{near}'?" if near else "Settings are " + ", ".join(Values.model_fields) + "."


def below_project(key: str, *, known: bool = True) -> str:
    """Where a key of a project stands."""
    asked = "It" if known else f"Did you mean '{key}'? It"
    return f"{asked} belongs below '{PROJECT_KEY}', indented: {PROJECT_KEY}: {{{key}: …}} (docs/project.md)."


def patterns_folder(folder: Path | None = None) -> Path | None:
    """The folder of the user's own patterns: `folder` if given, else as `patterns_of` the settings in force."""
    return patterns_of(load_settings({"patterns": folder}))


def patterns_of(settings: Settings) -> Path | None:
    """The folder of the user's own patterns: as set, else `patterns` beside the user's settings file where that exists; None
    without any.
    """
    if settings.patterns is not None:
        return settings.patterns
    user = config_file(os.environ)
    usual = None if user is None else user.parent / "patterns"
    return usual if usual is not None and usual.is_dir() else None


def _shown(value: object) -> str:
    return clean(str(value))[:80]
