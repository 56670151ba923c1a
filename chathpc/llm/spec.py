"""`--llm SPEC`: which model is meant, and the back end for it.

none             no model
local            the default local model, else another one that is installed
local:MODEL      a local model by name, or a GGUF file by path
openai:MODEL     a model at an OpenAI-compatible server
replay:FILE      the answers of a recording, for the questions that it holds
record:FILE:MODEL  as openai:MODEL, and each answer is added to the recording
auto             what is configured, else an installed local model that reads source (`chathpc models test` has shown it), else
                 none; never one on another machine that the user did not configure
A,B,…            several of these, tried in turn: the next one where one cannot be had or cannot answer
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from chathpc.errors import ModelUnavailableError, UsageError
from chathpc.llm import fitness
from chathpc.llm.backend import Backend, Form
from chathpc.llm.engine import INSTALL_HINT, installed_engines
from chathpc.llm.price import Price
from chathpc.llm.weights import installed_file, known_weights, models_folder
from chathpc.profile.text import clean

if TYPE_CHECKING:
    from chathpc.llm.recorded import Recording
    from chathpc.llm.settings import Settings

#: Why there are no words of a model though one was asked for, as in a report.
Lack = Literal["unavailable", "budget", "unsupported"]
Kind = Literal["none", "auto", "local", "openai", "replay", "record", "scripted"]
GRAMMAR = (
    "none, auto, local, local:MODEL, local:PATH.gguf, openai:MODEL, replay:FILE, or several with commas between them"
)
#: More alternatives than this are a mistake.
MOST_ALTERNATIVES = 8
PULL_HINT = "Get one with: chathpc models pull"
#: Names a module with back ends without a model, for tests: `scripted:NAME`.
TEST_BACKENDS = "CHATHPC_TEST_BACKENDS"


@dataclass(frozen=True, slots=True)
class Spec:
    """A SPEC, parsed; `model` is null where it names none."""

    kind: Kind
    model: str | None = None

    def __str__(self) -> str:
        return self.kind if self.model is None else f"{self.kind}:{self.model}"


@dataclass(frozen=True, slots=True)
class Choice:
    """The back end for a SPEC, null for none; `note` is a line for the report, empty if there is nothing to say.

    `lack` is set where one was asked for that cannot be had. `identity` tells the model from others in the results of `chathpc models test`.
    `hosted` says that it is behind a server, also one on this machine, `price` what it costs, `prompt_tokens` the longest prompt that it has
    shown to read in time; null if that is not known. `recording` keeps its answers.
    """

    backend: Backend | None
    note: str = ""
    identity: str = ""
    lack: Lack | None = None
    hosted: bool = False
    price: Price | None = None
    prompt_tokens: int | None = None
    recording: Recording | None = None

    @property
    def serves(self) -> bool:
        """Whether the model is behind a server: also on this machine, for behind a local port there may be a tunnel."""
        from chathpc.llm.hosted import HostedBackend
        from chathpc.llm.recorded import ReplayBackend

        return isinstance(self.backend, HostedBackend | ReplayBackend)


def parse(text: str, environ: Mapping[str, str] | None = None) -> Spec:
    """The SPEC in `text`; raises UsageError if it is none."""
    environ = os.environ if environ is None else environ
    kind, colon, model = text.strip().partition(":")
    if kind in ("none", "auto", "local") and not colon:
        return Spec("none" if kind == "none" else "auto" if kind == "auto" else "local")
    if kind == "local" and model:
        return Spec("local", model)
    if kind in ("openai", "replay") and model:
        return Spec("openai" if kind == "openai" else "replay", model)
    if kind == "record" and ":" in model.strip(":"):
        return Spec("record", model)
    if kind == "scripted" and model and environ.get(TEST_BACKENDS):
        return Spec("scripted", model)
    raise UsageError(f"'{clean(text)[:80]}' does not name a language model.", hint=f"Expected one of {GRAMMAR}.")


def alternatives(text: str, environ: Mapping[str, str] | None = None) -> tuple[Spec, ...]:
    """The SPECs in `text`, in the order in which they are tried; what stands after `none` never is.

    Raises UsageError if one of them is none, or if they are too many.
    """
    specs = tuple(parse(part, environ) for part in text.split(","))
    if len(specs) > MOST_ALTERNATIVES:
        raise UsageError(
            f"{len(specs)} language models are too many to try.", hint=f"Name {MOST_ALTERNATIVES} at most."
        )
    return specs


def choices(spec: str | None, settings: Settings, environ: Mapping[str, str] | None = None) -> Iterator[Choice]:
    """What to try for `spec` (null or `auto`: for the configured one), one after the other; each is looked up when it is asked for.

    One that is not here is a choice without a back end, whose note says why. Raises UsageError for what is no SPEC and what the
    site forbids.
    """
    environ = os.environ if environ is None else environ
    for one in alternatives(wanted_spec(spec, settings), environ):
        try:
            yield _choice(one, settings, environ)
        except ModelUnavailableError as error:
            yield Choice(None, str(error), lack="unavailable")
        if one.kind == "none":
            return


def resolve(spec: str | None, settings: Settings) -> Choice:
    """The back end for `spec`, or for the configured one if `spec` is null or `auto`; nothing is loaded yet.

    Raises UsageError for a SPEC that is none or that the site forbids, and ModelUnavailableError if the model that was asked
    for is not here; for `auto` that is a note instead.
    """
    return _choice(parse(wanted_spec(spec, settings)), settings, os.environ)


def wanted_spec(spec: str | None, settings: Settings) -> str:
    """`spec`, or the configured one if it is null or `auto`; UsageError where the site has settled on another."""
    if spec is None or spec.strip() == "auto":
        return settings.llm
    if settings.pinned is not None and spec.strip() not in ("none", settings.pinned):
        raise UsageError(
            f"'{clean(spec)[:80]}' is asked for, but this site has settled on '{clean(settings.pinned)[:80]}' "
            f"({settings.origins.get('pinned', 'pin')}).",
            hint="Omit it, or use --llm none.",
        )
    return spec


def _choice(wanted: Spec, settings: Settings, environ: Mapping[str, str]) -> Choice:
    if wanted.kind == "none":
        return Choice(None)
    if wanted.kind == "scripted":
        backend = import_module(environ[TEST_BACKENDS]).ScriptedBackend(wanted.model, form=settings.form or "prose")
        return Choice(backend, identity=str(wanted))
    if wanted.kind == "openai":
        return _hosted(str(wanted.model), settings, environ)
    if wanted.kind in ("replay", "record"):
        return _recorded(wanted, settings, environ)
    if wanted.kind == "local":
        return _local(wanted.model, settings, environ)
    return _automatic(settings, environ)


def _recorded(wanted: Spec, settings: Settings, environ: Mapping[str, str]) -> Choice:
    """Answers from a recording, or a model whose answers are recorded."""
    from chathpc.llm.recorded import RENEW, Recording, ReplayBackend

    if wanted.kind == "replay":
        file = Path(str(wanted.model))
        if not file.is_file():
            raise ModelUnavailableError(f"{clean(str(file))}: there is no such recording.", hint=RENEW)
        return Choice(ReplayBackend(Recording(file)), identity=str(wanted))
    name, _, model = str(wanted.model).rpartition(":")
    return replace(_hosted(model, settings, environ), recording=Recording(Path(name)))


def _automatic(settings: Settings, environ: Mapping[str, str]) -> Choice:
    """The local model that reads best, as `chathpc models test` has shown; one that only retells adds nothing unasked."""
    here = _here(settings, environ)
    shown = {path: fitness.remembered(file_identity(path), environ) for _, path in here}
    reading = [
        (result.reads.right / result.reads.asked, name, path)
        for name, path in here
        if (result := shown[path]) is not None and result.ability == "reads"
    ]
    if reading and installed_engines():
        _, name, path = max(reading, key=lambda each: each[0])
        return _from_file(path, name, settings, environ)
    if reading:
        return Choice(None, f"no model: {reading[0][1]} is here, but no engine; {INSTALL_HINT.rstrip('.')}")
    untested = [name for name, path in here if shown[path] is None]
    if untested:
        return Choice(
            None, f"no model: {untested[0]} has not been tested on reading source (`chathpc models test {untested[0]}`)"
        )
    if here:
        return Choice(None, f"no model: {here[0][0]} does not read source; for its prose: --llm local:{here[0][0]}")
    return Choice(None, "no model: none is here that reads source; `chathpc models list` shows some")


def _here(settings: Settings, environ: Mapping[str, str]) -> list[tuple[str, Path]]:
    """All local models in the folder, those of the manifest first."""
    folder = models_folder(settings.models, environ)
    known = [(weights.name, path) for weights in known_weights() if (path := installed_file(weights, folder))]
    files = {path for _, path in known} | {folder / weights.file for weights in known_weights() if folder}
    others = sorted(folder.glob("*.gguf")) if folder is not None and folder.is_dir() else []
    return known + [(clean(path.stem), path) for path in others if path not in files]


def _installed(settings: Settings, environ: Mapping[str, str]) -> tuple[str, Path] | None:
    automatic = {weights.name for weights in known_weights() if weights.automatic}
    return next((each for each in _here(settings, environ) if each[0] in automatic), None)


def _local(model: str | None, settings: Settings, environ: Mapping[str, str]) -> Choice:
    if model is None:
        found = _installed(settings, environ)
        if found is None:
            raise ModelUnavailableError("No local model is installed.", hint=PULL_HINT)
        name, path = found
    else:
        name, path = find_local(model, settings, environ)
    return _from_file(path, name, settings, environ)


def find_local(model: str, settings: Settings, environ: Mapping[str, str] | None = None) -> tuple[str, Path]:
    """Name and file of a local model, given by a name of the manifest, a path, or a file in the folder for models.

    Raises ModelUnavailableError if it is not here.
    """
    if "/" in model or model.endswith(".gguf"):
        path = Path(model).expanduser()
        if not path.is_file():
            raise ModelUnavailableError(f"{clean(model)}: there is no such file.", hint=PULL_HINT)
        return clean(path.stem), path
    folder = models_folder(settings.models, os.environ if environ is None else environ)
    known = {weights.name: weights for weights in known_weights()}
    if model in known:
        file = installed_file(known[model], folder)
        if file is None:
            raise ModelUnavailableError(
                f"The model {model} is not installed.", hint=f"Get it with: chathpc models pull {model}"
            )
        return model, file
    if folder is not None and (folder / f"{model}.gguf").is_file():
        return clean(model), folder / f"{model}.gguf"
    raise ModelUnavailableError(
        f"There is no local model '{clean(model)[:80]}'.",
        hint=f"Known models: {', '.join(known)}; name any other GGUF file by its path.",
    )


def _from_file(path: Path, name: str, settings: Settings, environ: Mapping[str, str]) -> Choice:
    from chathpc.llm.local import LocalBackend

    identity = file_identity(path)
    shown = fitness.remembered(identity, environ)
    form, note = _form(shown, "prose", name, settings)
    backend = LocalBackend(
        path,
        model=name,
        context=settings.context,
        threads=settings.threads,
        gpu_layers=settings.gpu_layers,
        form=form,
    )
    return Choice(backend, note, identity, prompt_tokens=None if shown is None else shown.prompt_tokens)


def file_identity(path: Path) -> str:
    """What tells a model's file from others in the results of tests."""
    try:
        size = path.stat().st_size
    except OSError:
        size = 0
    return f"local {path.name} {size}"


def _hosted(model: str, settings: Settings, environ: Mapping[str, str]) -> Choice:
    from chathpc.llm.hosted import HostedBackend
    from chathpc.llm.keys import DEFAULT_BASE_URL, endpoint, read_key

    target = endpoint(settings)
    if not settings.hosted and not target.loopback:
        raise UsageError(
            f"Models on other machines are forbidden ({settings.origins.get('hosted', 'hosted: false')}).",
            hint="Use --llm local, --llm none, or a server on this machine.",
        )
    key = read_key(settings, target, environ)
    if target.url == DEFAULT_BASE_URL and not key.secret:
        raise ModelUnavailableError(
            f"openai:{clean(model)} needs a key.",
            hint="Set OPENAI_API_KEY or api_key_file, or put it into the keyring; --base-url names another server.",
        )
    identity = f"openai {target.url} {model}"
    shown = fitness.remembered(identity, environ)
    form, note = _form(shown, "structured", model, settings)
    backend = HostedBackend(model, target, key, form=form)
    return Choice(backend, note, identity, hosted=True, price=settings.prices.get(model))


def _form(shown: fitness.Fitness | None, usual: Form, model: str, settings: Settings) -> tuple[Form, str]:
    """The prompt form: as set, else the best that the model has shown, else the usual one."""
    note = ""
    if shown is not None and not shown.forms:
        note = f"{clean(model)} failed `chathpc models test`: it neither reads nor retells; its sentences may be of little use"
    if settings.form is not None:
        return settings.form, note
    return (shown.forms[0] if shown is not None and shown.forms else usual if shown is None else "prose"), note
