"""The names that belong to a user: those in a profile, and those of who runs chathpc, where."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Iterable, Iterator, Mapping

from chathpc.diagnosis.facts import readable_function
from chathpc.diagnosis.records import Diagnosis, Place
from chathpc.privacy.placeholders import Kind, Mode, Placeholders, parted
from chathpc.privacy.words import GROUP, WORD, own_words
from chathpc.profile.profile import Profile

#: Variables that name the user, the machine and the job; the rest of the environment is not looked at.
_SESSION: Mapping[str, Kind] = {
    "USER": "user", "LOGNAME": "user", "SLURM_JOB_USER": "user", "SLURM_JOB_ACCOUNT": "user", "PBS_O_LOGNAME": "user",
    "HOSTNAME": "host", "SLURMD_NODENAME": "host", "SLURM_JOB_NODELIST": "host", "SLURM_CLUSTER_NAME": "host",
    "SLURM_SUBMIT_HOST": "host", "PBS_O_HOST": "host", "PBS_SERVER": "host", "LSB_HOSTS": "host", "FLUX_URI": "host",
    "SLURM_JOB_ID": "job", "SLURM_JOBID": "job", "SLURM_ARRAY_JOB_ID": "job", "SLURM_JOB_NAME": "job", "PBS_JOBID": "job",
    "PBS_JOBNAME": "job", "LSB_JOBID": "job", "LSB_JOBNAME": "job", "FLUX_JOB_ID": "job", "COBALT_JOBID": "job",
    "HOME": "dir", "PWD": "dir",
}  # fmt: skip
#: Users whom every machine has.
_EVERYBODY = frozenset({"root", "nobody", "user"})
#: Folders below which users have theirs.
_HOMES = re.compile(r"(?:^|/)(?:home|users|u|scratch|work|project|projects|gpfs|lustre)/([^/\n]+)", re.IGNORECASE)
_STATE = re.compile(r"<([a-z ]{1,60})>(?: 0x[0-9a-f]{1,16})?(?: \[[^\[\]]*\])?")
#: What Fortran compilers put between a module and its procedure: gfortran, Intel's, and flang, whose names are in lower case else.
_FORTRAN = re.compile(r"_MOD_|_mp_|(?:(?<=[a-z0-9_])|^)[MSFP](?=[a-z])")
#: Of tables of names so much is looked at (characters); a word beyond is hidden all the same unless chathpc uses it itself.
_MOST = 20_000_000
#: Shorter numbers are too common to be those of jobs.
_SHORTEST_NUMBER = 4
_COMPOUND = frozenset(".-@")


def placeholders_for(
    profile: Profile, diagnosis: Diagnosis | None, mode: Mode, *, environ: Mapping[str, str] | None = None
) -> Placeholders:
    """The placeholders for a profile: its names, most important first, and those of the session."""
    if mode == "none":
        return Placeholders("none")
    names: dict[str, Kind] = {}
    for kind, text in _texts(profile, diagnosis, os.environ if environ is None else environ):
        _note(names, kind, text)
    hardware = " ".join([*profile.hardware.values(), *(device.name for device in profile.devices.values())])
    return Placeholders(mode, names, frozenset(WORD.findall(hardware.lower())))


def _note(names: dict[str, Kind], kind: Kind, text: str) -> None:
    """Add the words of a text, and its groups of letters with dots and hyphens, as names of a kind."""
    for group in dict.fromkeys(GROUP.findall(text.lower())):
        if group.isdigit() and len(group) < _SHORTEST_NUMBER:
            continue
        names.setdefault(group, kind)
        if not _COMPOUND.isdisjoint(group):
            stem, _ending = parted(group)
            for word in (stem, *WORD.findall(stem)):
                if not word.isdigit() or len(word) >= _SHORTEST_NUMBER:
                    names.setdefault(word, kind)


def _texts(profile: Profile, diagnosis: Diagnosis | None, environ: Mapping[str, str]) -> Iterator[tuple[Kind, str]]:
    for variable, kind in _SESSION.items():
        value = environ.get(variable, "")
        if value and value not in _EVERYBODY:
            yield kind, value
    yield "host", socket.gethostname()
    tree = profile.tree
    files = [str(name) for name in (*tree.files, *tree.modules, *(source.path for source in profile.sources))]
    for owner in dict.fromkeys(_HOMES.findall(_joined(files))):
        if owner.lower() not in own_words() and owner not in _EVERYBODY:
            yield "user", owner
    if diagnosis is not None:
        for place in _places(diagnosis):
            yield "fn", " ".join(filter(None, (place.function, place.kernel)))
            yield "file", (place.file or "").rsplit("/", 1)[-1]
    functions = [name for name in tree.names if not _of_a_tool(name)]
    yield "fn", _joined(functions)
    yield "fn", _joined(f"{readable_function(name)} {_parts(name)}" for name in functions)
    yield "file", _joined(name.rsplit("/", 1)[-1] for name in files)
    yield "dir", _joined(name.rpartition("/")[0] for name in files)
    if profile.build is not None:
        records = profile.build.records
        yield "fn", _joined(f"{record.function} {record.callee}" for record in records)
        yield "file", _joined(record.file.rsplit("/", 1)[-1] for record in records)
    yield "name", "\n".join([profile.title, *profile.run.values()])


def _parts(symbol: str) -> str:
    """The module and the procedure of a symbol of Fortran, each as the source has it; nothing for other symbols."""
    if symbol.startswith("_Q") or "_MOD_" in symbol or "_mp_" in symbol:
        return " ".join(part.strip("_") for part in _FORTRAN.split(symbol.removeprefix("_Q")))
    return symbol.strip("_") if symbol.endswith("_") else ""


def _joined(names: Iterable[str]) -> str:
    return "\n".join(names)[:_MOST]


def _places(diagnosis: Diagnosis) -> Iterator[Place]:
    for finding in diagnosis.findings:
        yield finding.where
    for item in diagnosis.evidence:
        if item.where is not None:
            yield item.where


def _of_a_tool(name: str) -> bool:
    """`<omp barrier wait>`, `<unknown procedure> 0x1e2d0 [libgomp.so.1]`: states that tools name, in words that chathpc has itself."""
    state = _STATE.fullmatch(name)
    return state is not None and all(word in own_words() for word in WORD.findall(state[1].lower()))
