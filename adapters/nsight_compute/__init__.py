"""Nsight Compute: reports (.ncu-rep, .ncu-repz), their exports to CSV, and folders of these."""

from __future__ import annotations

from chathpc.adapters.adapter import Adapter, reader
from chathpc.adapters.glance import Glance

#: The first bytes of a report.
MAGIC = b"NVR\0"
#: Files of a folder that are looked at.
_LOOKED_AT = 200
#: Names of what Nsight Compute writes, and of what lies beside it in a folder.
_REPORTS, _EXPORTS = (".ncu-rep", ".ncu-repz", ".nsight-cuprof-report"), (".csv", ".csv.gz", ".txt", ".log")
#: A folder with one of these belongs to another tool.
_FOREIGN = ("meta.db", "profile.db", "experiment.xml")
_FOREIGN_ENDINGS = (".nsys-rep", ".qdrep", ".sqlite", ".hpcrun")


def recognises(glance: Glance) -> bool:
    """True for a report, an export to CSV (raw or details page), and a folder with at least one of them."""
    return bool(files_in(glance)) if glance.is_folder else _is_file(glance)


def is_report(glance: Glance) -> bool:
    """True for a report, by its first bytes, and for what is called one: it may be damaged, or compressed (.ncu-repz)."""
    return glance.head.startswith(MAGIC) or (glance.is_file and glance.path.name.endswith(_REPORTS))


def _is_file(glance: Glance) -> bool:
    """By its first bytes, a header, or a line of the profiler's own: the header may come after much output."""
    from chathpc.adapters.nsight_compute.table import OWN, header_of

    return is_report(glance) or any(
        line.startswith(OWN) or header_of(line) is not None for line in glance.text.splitlines()
    )


def files_in(glance: Glance) -> list[str]:
    """Names of the reports in a folder, or of the exports if there are no reports; none for another tool's folder."""
    names = glance.names[:10_000]
    if any(name in _FOREIGN or name.endswith(_FOREIGN_ENDINGS) for name in names):
        return []
    for endings in (_REPORTS, _EXPORTS):
        chosen = [name for name in names if name.endswith(endings)]
        found = [name for name in chosen[:_LOOKED_AT] if _is_file(glance.inside(name))]
        if found:
            return [*found, *chosen[_LOOKED_AT:]]
    return []


def needs() -> str:
    """What is missing to open reports; exports to CSV need nothing."""
    from chathpc.adapters.nsight_compute.native import installed

    if installed():
        return ""
    return "reports (.ncu-rep) need NVIDIA's package: pip install 'chathpc[ncu]'; exports to CSV need nothing"


ADAPTER = Adapter(
    name="nsight-compute",
    reads="Nsight Compute reports (.ncu-rep) and their exports (ncu --page raw|details --csv), one or a folder of them",
    recognises=recognises,
    read=reader("chathpc.adapters.nsight_compute.read"),
    order=20,
    needs=needs,
)
