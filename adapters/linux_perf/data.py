"""perf.data through the perf that is installed: only perf itself knows all of its own format."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from chathpc.adapters.lines import lines
from chathpc.adapters.linux_perf.script import profile_of
from chathpc.errors import AdapterError
from chathpc.profile.profile import Profile
from chathpc.profile.text import clean

#: Seconds that perf may take, and bytes that it may write.
LIMIT = 300.0
LARGEST = 8 << 30
_STEP = 0.1


def read(path: Path) -> Profile:
    """The profile in the perf.data at `path`; AdapterError with the exact command where perf is missing or fails."""
    perf = shutil.which("perf")
    command = f"perf script -i {path} > samples.txt"
    if perf is None:
        raise AdapterError(
            "perf.data is read through perf, which is not installed here",
            path=path,
            hint=f"Run this where it was recorded, and give samples.txt: {command}",
        )
    with tempfile.TemporaryDirectory(prefix="chathpc-perf-") as folder:
        text = Path(folder) / "samples.txt"
        said = _run([perf, "script", "--no-inline", "-i", str(path.absolute())], text, path)
        if said is not None and "no-inline" in said:  # perf before 4.16
            said = _run([perf, "script", "-i", str(path.absolute())], text, path)
        if said is not None:
            raise AdapterError(
                f"perf cannot read it: {said or 'it gives no reason'}",
                path=path,
                hint=f"Run this where it was recorded, and give samples.txt: {command}",
            )
        profile = profile_of(lines(text), path)
    return replace(profile, format="Linux perf (perf.data)")


def _run(command: list[str], output: Path, path: Path) -> str | None:
    """Run perf with its output in a file; None if it ended well, else the first line of what it says."""
    # No pager, no configuration of the user's, and no downloads of debug information.
    environment = {
        **os.environ, "PAGER": "cat", "PERF_CONFIG": os.devnull, "DEBUGINFOD_URLS": "", "LC_ALL": "C",
    }  # fmt: skip
    errors = output.with_suffix(".errors")
    with output.open("wb") as out, errors.open("wb") as err:
        try:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=environment)
        except OSError as error:
            return error.strerror or "it does not start"
        try:
            deadline = time.monotonic() + LIMIT
            while process.poll() is None:
                too_long = time.monotonic() > deadline
                if too_long or output.stat().st_size > LARGEST:
                    raise AdapterError(
                        f"perf script takes longer than {LIMIT:g} s" if too_long else "perf script writes too much",
                        path=path,
                        hint=f"Run it yourself, and give samples.txt: perf script -i {path} > samples.txt",
                    )
                try:
                    process.wait(_STEP)
                except subprocess.TimeoutExpired:
                    continue
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
    if process.returncode == 0 and output.stat().st_size:
        return None
    said = errors.read_bytes()[:4000].decode("utf-8", "replace").strip().splitlines()
    telling = [row.strip() for row in said if row.strip()]
    return clean(telling[0])[:200] if telling else ""
