"""perf.data through the perf that is installed: only perf itself knows all of its own format."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path
from shlex import quote

from chathpc.adapters.linux_perf import addr2line, annotate, images
from chathpc.adapters.linux_perf.script import profile_of
from chathpc.adapters.linux_perf.switches import bounded
from chathpc.errors import AdapterError
from chathpc.profile.profile import Profile
from chathpc.profile.text import clean

#: Seconds that perf may take, seconds after which it is asked again without source lines, and bytes that it may write.
LIMIT, LIMIT_OF_LINES = 300.0, 60.0
LARGEST = 8 << 30
_STEP = 0.1
#: All that is read of a recording. With inlined functions perf keeps the program that finds lines running: without, each line starts one.
FULL = ("--header", "-F", "+pid,+srcline", "--show-switch-events", "--show-lost-events")
#: Without lines all fields by their names: to those that it chooses itself perf adds none for the scheduler's events but at the price of their stacks.
_FIELDS = "comm,pid,tid,time,period,event,trace,ip,sym,dso"
#: Before this version perf hands names that lie in the file to a shell when it looks for lines (tools/perf/util/srcline.c).
_SAFE = (5, 16)


def read(path: Path) -> Profile:
    """The profile in the perf.data at `path`, with source lines; AdapterError with the exact command where perf is missing or fails."""
    perf = shutil.which("perf")
    hint = f"Run this where it was recorded, then pass samples.txt: {command(path)}"
    if perf is None:
        raise AdapterError("reading perf.data needs perf, which is not installed here", path=path, hint=hint)
    with tempfile.TemporaryDirectory(prefix="chathpc-perf-") as folder:
        text = Path(folder) / "samples.txt"
        recording = str(_mended(path, Path(folder)))
        script = [perf, "script", "-i", recording]
        beside = addr2line.placed(Path(folder), os.environ.get("PATH", os.defpath))
        lacks = _too_old(perf, text) or _run([*script, *FULL], text, LIMIT_OF_LINES, more=beside)
        said = None if lacks is None else _run([*script, "--header", "--no-inline", "-F", _FIELDS], text, LIMIT)
        if said is not None and _run(script, text, LIMIT) is None:  # perf before 4.16
            said = None
        if said is not None:
            raise AdapterError(f"perf cannot read it: {said or 'it gives no reason'}", path=path, hint=hint)
        code = Path(folder) / "code.txt"
        # Where perf fails at one function, it has told those before.
        if lacks is None:
            _run([perf, *annotate.OPTIONS, "-i", recording], code, annotate.LIMIT, annotate.LARGEST)
        told = annotate.comments(code.read_bytes()) if code.exists() else []
        profile = profile_of(chain(bounded(text), told), path)
    caveats = profile.caveats if lacks is None else (*profile.caveats, f"perf gave no source lines: {lacks}.")
    return replace(profile, format="Linux perf (perf.data)", caveats=caveats)


def _mended(path: Path, folder: Path) -> Path:
    """A copy in `folder` that `images` mended, the recording itself where there is nothing to mend or no room."""
    changes = images.stale(path)
    if changes:
        with suppress(OSError):
            copy = Path(shutil.copyfile(path, folder / "perf.data"))
            images.forget(copy, changes)
            return copy
    return path.absolute()


def command(path: Path) -> str:
    """The command that writes all that is read of a recording as text."""
    return f"perf script {' '.join(FULL)} -i {quote(clean(str(path)))} > samples.txt"


def _too_old(perf: str, output: Path) -> str | None:
    """Why this perf is not asked for source lines, None if it is."""
    said = _run([perf, "--version"], output, LIMIT_OF_LINES)
    version = re.match(rb"perf version (\d{1,4})\.(\d{1,4})", output.read_bytes()[:100])
    if said is None and version is not None and (int(version[1]), int(version[2])) >= _SAFE:
        return None
    return "its version is not {}.{} or later".format(*_SAFE)


def _run(
    command: list[str], output: Path, limit: float, largest: int | None = None, more: Mapping[str, str] | None = None
) -> str | None:
    """Run perf with its output in a file; None if it ended well, else the first line of what it says."""
    largest = LARGEST if largest is None else largest
    # No pager, no configuration of the user's, and no downloads of debug information.
    environment = {
        **os.environ, "PAGER": "cat", "PERF_CONFIG": os.devnull, "DEBUGINFOD_URLS": "", "LC_ALL": "C",
        **(more or {}),
    }  # fmt: skip
    errors = output.with_suffix(".errors")
    with output.open("wb") as out, errors.open("wb") as err:
        try:
            # SIGPIPE stays ignored: the program that perf asks for lines ends at a file that is none, and perf writes to it.
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=environment, restore_signals=False
            )
        except OSError as error:
            return error.strerror or "it does not start"
        try:
            deadline = time.monotonic() + limit
            while process.poll() is None:
                if time.monotonic() > deadline:
                    return f"it takes longer than {limit:g} s"
                if output.stat().st_size > largest:
                    return f"it writes more than {largest:,} bytes"
                with suppress(subprocess.TimeoutExpired):
                    process.wait(_STEP)
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
    if process.returncode == 0 and output.stat().st_size:
        return None
    said = errors.read_bytes()[:4000].decode("utf-8", "replace").strip().splitlines()
    telling = [row.strip() for row in said if row.strip()]
    return clean(telling[0])[:200] if telling else ""
