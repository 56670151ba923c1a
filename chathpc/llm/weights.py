"""Weights of local models: which are known, which are here, and how they get here."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from io import BufferedRandom
from pathlib import Path
from typing import Protocol

from chathpc.errors import ModelUnavailableError, UsageError
from chathpc.llm.places import cache_folder
from chathpc.profile.text import clean

#: Called with the bytes that are here and the source that they come from.
Progress = Callable[[int, str], None]


class SourceError(Exception):
    """A source does not have the file, cannot be reached, or stopped in the middle; the message says which."""


@dataclass(frozen=True, slots=True)
class Hub:
    """A repository on the Hugging Face hub at a revision."""

    repository: str
    revision: str


@dataclass(frozen=True, slots=True)
class Index:
    """Packages of the Python package index whose members, put together, are the file; see weights.yaml."""

    package: str
    version: str
    parts: int
    part_bytes: int
    member: str


@dataclass(frozen=True, slots=True)
class Weights:
    """A model file: what it must be, and where it can be had.

    Without a sum it is only listed, with about so many bytes: nobody here has tried it. `memory` is what it needs, in GB.
    """

    name: str
    file: str
    bytes: int
    sha256: str | None
    licence: str
    memory: float
    about: str
    automatic: bool  # whether `--llm local` may choose it
    hub: Hub | None
    index: Index | None


class Source(Protocol):
    """A place to get weights from."""

    @property
    def name(self) -> str:
        """How messages call it."""

    def size(self, weights: Weights) -> int | None:
        """Bytes of the file there; None where that cannot be told."""

    def fetch(self, weights: Weights, part: BufferedRandom, progress: Progress) -> None:
        """Append to `part` what it lacks, from its end on, or write it anew.

        What has arrived stays in `part` on errors. Raises SourceError.
        """


@cache
def _manifest() -> tuple[str, dict[str, Weights]]:
    from chathpc.packaged import table

    content = table("chathpc.llm", "weights.yaml")
    known = {}
    for entry in content["weights"]:
        hub, index = entry.pop("hub", None), entry.pop("index", None)
        known[entry["name"]] = Weights(
            **{"sha256": None, **entry},
            hub=None if hub is None else Hub(**hub),
            index=None if index is None else Index(**index),
        )
    return content["default"], known


def known_weights() -> Sequence[Weights]:
    """All weights of the manifest, the default first."""
    default, known = _manifest()
    return sorted(known.values(), key=lambda weights: weights.name != default)


def find_weights(name: str | None = None) -> Weights:
    """The weights called `name`, the default ones without a name; raises UsageError for an unknown one."""
    default, known = _manifest()
    weights = known.get(name or default)
    if weights is None:
        raise UsageError(f"There is no model '{name}' to fetch.", hint="There are " + ", ".join(known) + ".")
    return weights


def models_folder(folder: Path | None = None, environ: Mapping[str, str] | None = None) -> Path | None:
    """Where weights are kept: `folder` from the settings, else `models` in the user's cache; None without either."""
    if folder is not None:
        return folder
    base = cache_folder(os.environ if environ is None else environ)
    return None if base is None else base / "models"


def installed_file(weights: Weights, folder: Path | None) -> Path | None:
    """The file of `weights` if it is in `folder` with its right size, or with the sum that it was taken by beside it; that was
    checked when it came.
    """
    if folder is None:
        return None
    path = folder / weights.file
    try:
        here = path.stat().st_size == weights.bytes if weights.sha256 else _sum_file(path).is_file() and path.is_file()
    except OSError:
        return None
    return path if here else None


def _sum_file(path: Path) -> Path:
    """Where the sum of a file stands that the manifest has none of, as sha256sum writes it."""
    return path.with_name(path.name + ".sha256")


def take(weights: Weights, folder: Path | None, path: Path) -> Path:
    """Take the user's own file for `weights` into `folder`, by a link where the file system can, and note its SHA-256 sum.

    Raises UsageError if it cannot be read, is no GGUF file, or has another sum than the manifest's.
    """
    target = _writable(folder) / weights.file
    try:
        with path.open("rb") as file:
            if file.read(4) != b"GGUF":
                raise UsageError(f"{path}: not a GGUF file.", hint=_source_hint(weights))
        sum_ = sha256(path)
        if weights.sha256 not in (None, sum_):
            raise UsageError(f"{path}: this is another file than {weights.name}: its SHA-256 sum is {sum_}.")
        if not (target.exists() and target.samefile(path)):
            unfinished = target.with_name(target.name + ".part")
            unfinished.unlink(missing_ok=True)
            try:
                unfinished.hardlink_to(path.resolve())
            except OSError:
                shutil.copyfile(path, unfinished)
            unfinished.replace(target)
        if weights.sha256 is None:
            _note_sum(target, sum_)
    except OSError as error:
        raise UsageError(f"{error.filename or path}: {error.strerror}.", hint=_source_hint(weights)) from error
    return target


def _note_sum(path: Path, sum_: str) -> None:
    _sum_file(path).write_text(f"{sum_}  {path.name}\n", encoding="utf-8")


def _source_hint(weights: Weights) -> str:
    return "" if weights.hub is None else f"It is {weights.file} of {weights.hub.repository} on the Hugging Face hub."


def _writable(folder: Path | None) -> Path:
    if folder is None:
        raise UsageError("There is no folder for models.", hint="Set CHATHPC_MODELS to one: there is no home folder.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"{folder}: cannot be written: {error.strerror}.",
            hint="Set CHATHPC_MODELS to a folder that can be written.",
        ) from error
    return folder


def sha256(path: Path) -> str:
    """The SHA-256 sum of a file in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def pull(
    weights: Weights, folder: Path | None, sources: Sequence[Source], *, progress: Progress = lambda done, source: None
) -> Path:
    """Fetch `weights` into `folder` and return the file.

    Sources are tried in order; each continues what is there already. A file with another size or SHA-256 sum than the
    manifest's is deleted. The result is renamed into place, so that a file of that name is always whole. Raises
    ModelUnavailableError if no source helps, and says what else can be done; UsageError if the folder cannot be written.
    """
    folder = _writable(folder)
    here = installed_file(weights, folder)
    if here is not None:
        return here
    if weights.sha256 is None:
        raise ModelUnavailableError(
            f"{weights.name} is not fetched: it is untested, and there is no SHA-256 sum to verify it.",
            hint=(
                f"{_source_hint(weights)}\n"
                f"  have the file?  chathpc models pull {weights.name} --path FILE\n"
                f"  know its sum?   chathpc models pull {weights.name} --sha256 SUM   (the hub shows it on the file's page)"
            ),
        )
    unfinished = folder / (weights.file + ".part")
    try:
        with unfinished.open("ab+") as part:
            _lock(part, weights)
            _check_space(weights, folder, part)
            failures = _fetch(weights, sources, part, progress)
        if failures is not None:
            raise _nothing_helped(weights, folder, failures)
        unfinished.replace(folder / weights.file)
    except OSError as error:
        raise UsageError(
            f"{error.filename or folder}: cannot be written: {error.strerror}.",
            hint="Set CHATHPC_MODELS to a folder of your own with enough space.",
        ) from error
    return folder / weights.file


def pull_by_sum(
    weights: Weights,
    folder: Path | None,
    sources: Sequence[Source],
    sum_: str,
    *,
    progress: Progress = lambda done, source: None,
) -> Path:
    """Fetch `weights` of which the user knows the SHA-256 sum, as `pull` does; the sum is noted beside the file."""
    if not re.fullmatch(r"[0-9a-f]{64}", sum_):
        raise UsageError(f"'{clean(sum_)[:80]}' is not a SHA-256 sum, which has 64 hexadecimal digits.")
    if weights.sha256 not in (None, sum_):
        raise UsageError(f"{weights.name} has the sum {weights.sha256}.", hint="Omit --sha256.")
    size = weights.bytes
    if weights.sha256 is None:
        size = next((told for source in sources if (told := source.size(weights)) is not None), size)
    path = pull(replace(weights, sha256=sum_, bytes=size), folder, sources, progress=progress)
    if weights.sha256 is None:
        _note_sum(path, sum_)
    return path


def _lock(part: BufferedRandom, weights: Weights) -> None:
    """Two downloads into one file would spoil it; where the file system has no locks, the sum notices."""
    try:
        fcntl.flock(part, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise ModelUnavailableError(
            f"Another process is fetching {weights.name}.", hint="Wait until it has finished."
        ) from None
    except OSError:
        return


def _check_space(weights: Weights, folder: Path, part: BufferedRandom) -> None:
    needed = weights.bytes - os.fstat(part.fileno()).st_size
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise ModelUnavailableError(
            f"{folder}: {weights.name} needs {needed / 1e6:.0f} MB more, but {free / 1e6:.0f} MB are free.",
            hint="Set CHATHPC_MODELS to a folder with enough space.",
        )


def _fetch(weights: Weights, sources: Sequence[Source], part: BufferedRandom, progress: Progress) -> list[str] | None:
    """None once `part` is the file; else why each source failed. What is wrong is truncated away."""
    failures = []
    for source in sources:
        # What an earlier run left may be of no use: then the source gets a second chance, from nothing.
        for _ in range(2):
            begun = part.seek(0, os.SEEK_END) > 0
            try:
                source.fetch(weights, part, progress)
            except SourceError as error:
                failures.append(f"{source.name}: {error}")
                break
            if _is_right(weights, part):
                return None
            _truncate(part)
            if not begun:
                failures.append(f"{source.name}: the file has another SHA-256 sum than it must have, and was deleted")
                break
    if part.seek(0, os.SEEK_END) == 0:
        with suppress(OSError):
            Path(part.name).unlink()
    return failures


def _is_right(weights: Weights, part: BufferedRandom) -> bool:
    part.flush()
    if part.seek(0, os.SEEK_END) != weights.bytes:
        return False
    part.seek(0)
    return hashlib.file_digest(part, "sha256").hexdigest() == weights.sha256


def _truncate(part: BufferedRandom) -> None:
    part.seek(0)
    part.truncate()


def _nothing_helped(weights: Weights, folder: Path, failures: Sequence[str]) -> ModelUnavailableError:
    tried = "".join(f"\n  {failure}" for failure in failures)
    where = (
        "" if weights.hub is None else f" ({weights.hub.repository} at {weights.hub.revision} on the Hugging Face hub)"
    )
    return ModelUnavailableError(
        f"{weights.name} could not be fetched:{tried}",
        hint=(
            "What you can do:\n"
            "  run the same command again: it continues where it stopped\n"
            f"  fetch {weights.file}{where} elsewhere and put it into {folder}\n"
            "  name a folder or URL that has it: --from, or CHATHPC_MIRROR\n"
            "  use another GGUF file: --llm local:PATH.gguf\n"
            "  use a server: --llm openai:MODEL --base-url URL\n"
            "  go without: --llm none gives the whole report, in plainer words"
        ),
    )
