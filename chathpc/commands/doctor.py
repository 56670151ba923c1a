"""`chathpc doctor`."""

from __future__ import annotations

import os
import platform
import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib import metadata, util
from pathlib import Path

import click

from chathpc import __version__
from chathpc.commands.output import answer, answer_json, output_options, style_for
from chathpc.diagnosis.source.languages import DISTRIBUTIONS
from chathpc.errors import ChathpcError

#: Distributions that chathpc needs.
_PACKAGES = ("click", "numpy", "pandas", "llnl-hatchet", "networkx", "openai", "pydantic", "PyYAML", "rich")
#: What needs the optional parts that an extra brings.
_EXTRAS = {
    "keyring": "keys of hosted models in a keyring",
    "gpu": "kernels run in a harness",
    "ncu": "reports of Nsight Compute (.ncu-rep)",
    "predict": "chathpc predict",
    "darshan": "logs of Darshan",
    "otf2": "traces of OTF2",
    "zstd": "files packed by zstd",
    "mcp": "chathpc mcp",
    "jupyter": "%load_ext chathpc in notebooks",
    "engines": "chathpc ranks on several nodes",
    "plot": "pictures: chathpc export --to flame-png",
}
#: A requirement of an extra, as the metadata of a distribution has it: `dask[distributed]<2027; extra == "engines"`.
_BROUGHT = re.compile(r'([\w.-]+)[^;]*;(.*)extra == "([\w-]+)"')
#: Programs that chathpc knows how to use the results of, and where they come from.
_TOOLS = {
    "hpcrun": "HPCToolkit (hpctoolkit.org); on a cluster often: module load hpctoolkit",
    "hpcstruct": "HPCToolkit",
    "hpcprof": "HPCToolkit",
    "nsys": "NVIDIA Nsight Systems, part of the CUDA toolkit",
    "ncu": "NVIDIA Nsight Compute, part of the CUDA toolkit",
    "perf": "Linux perf, package linux-perf or linux-tools",
    "py-spy": "for programs of Python: pip install py-spy",
}


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the answer: what was looked at, whether it is there, what was found, what to do if it is missing."""

    group: str
    name: str
    ok: bool
    detail: str
    remedy: str = ""


@click.command("doctor")
@output_options(("text", "json"))
def command(form: str, output: str | None) -> None:
    """Check the installation and list what is missing.

    Starts only a trial of each sandbox, and makes no connections. Exits with 0 whatever it finds.

    For example: chathpc doctor
    """
    checks = [*_python(), *_packages(), *_optional(), *_engines(), *_settings(), *_tools(), *_sandboxes()]
    if form == "json":
        answer_json([asdict(check) for check in checks], output)
    else:
        answer(_text(checks, output), output)


def _python() -> Iterator[Check]:
    yield Check("chathpc", "chathpc", True, __version__)
    yield Check("chathpc", "Python", True, f"{platform.python_version()} on {platform.system()} {platform.machine()}")
    yield Check("chathpc", "cores", True, f"{len(os.sched_getaffinity(0))} that this process may use")


def _version(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def _packages() -> Iterator[Check]:
    for name in _PACKAGES:
        yield _installed("packages", name, f"pip install {name}")
    for name, files in DISTRIBUTIONS.items():
        yield _installed(
            "packages", name, f"pip install {name}; without it the diagnosis does not analyse {files} source"
        )


def _installed(group: str, name: str, remedy: str) -> Check:
    version = _version(name)
    return Check(group, name, version is not None, version or "", "" if version else remedy)


def _optional() -> Iterator[Check]:
    try:
        requirements = metadata.requires("chathpc") or []
    except metadata.PackageNotFoundError:  # run from its source
        requirements = []
    for found in filter(None, map(_BROUGHT.match, requirements)):
        name, condition, extra = found.groups()
        if extra not in _EXTRAS or ("python_version" in condition and sys.version_info >= (3, 14)):
            continue
        yield _installed("optional parts", name, f"optional: pip install 'chathpc[{extra}]', for {_EXTRAS[extra]}")


def _engines() -> Iterator[Check]:
    """Engines for local models; one is enough, and none is fine for reports without a model."""
    from chathpc.llm.engine import ENGINES, INSTALL_HINT

    there = {module for module in ENGINES if util.find_spec(module) is not None}
    for module, distribution in ENGINES.items():
        found = module in there
        if there and not found:
            continue
        version = (_version(distribution) or "unknown version") if found else ""
        yield Check("local models", distribution, found, version, "" if found else f"optional: {INSTALL_HINT}")


def _settings() -> Iterator[Check]:
    """Settings files with what they set, and the weights that the settings lead to."""
    from chathpc.llm.places import config_file
    from chathpc.llm.settings import PROJECT_FILE, SITE_FILE, load_settings
    from chathpc.llm.weights import installed_file, known_weights, models_folder

    try:
        settings = load_settings()
    except ChathpcError as error:
        yield Check("settings", "settings", False, error.message, error.hint)
        return
    folder = models_folder(settings.models)
    for weights in known_weights():
        file = installed_file(weights, folder)
        if file is None and weights.sha256 is None:
            continue  # it is not fetched by its name alone
        remedy = "" if file else f"optional: chathpc models pull {weights.name}"
        yield Check("local models", weights.name, file is not None, str(file or ""), remedy)
    user = config_file(os.environ)
    for whose, path in (("project", Path(PROJECT_FILE)), ("user", user), ("site", SITE_FILE)):
        if path is not None:
            yield Check("settings", f"of the {whose}", True, f"{path}{'' if path.is_file() else ': none, none needed'}")
    for key, origin in settings.origins.items():
        yield Check("settings", key, True, f"{getattr(settings, key, '')}, from {origin}")


def _tools() -> Iterator[Check]:
    for name, remedy in _TOOLS.items():
        path = shutil.which(name)
        yield Check("profilers on PATH", name, path is not None, path or "", "" if path else f"optional: {remedy}")


def _sandboxes() -> Iterator[Check]:
    """Where changed code can be run; the first that works is taken."""
    from chathpc.sandbox import gaps, states

    taken = False
    for name, fault in states():
        open_ = "; ".join(gap.what for gap in gaps(name))
        use = "not needed: a stronger one works" if taken else "is used for changed code"
        if not fault:
            yield Check("sandboxes", name, True, use, f"It does not block everything: {open_}." if open_ else "")
        else:
            remedy = "install the package bubblewrap" if name == "bubblewrap" else "needs Linux 5.13 or newer"
            yield Check("sandboxes", name, False, "", f"{'optional: ' if taken else ''}{remedy} ({fault})")
        taken = taken or not fault
    strace = shutil.which("strace")
    yield Check(
        "sandboxes", "strace", strace is not None, "traces the side effects of changes" if strace else "",
        "" if strace else "install the package strace; without it only the files that a run leaves are compared",
    )  # fmt: skip


def _text(checks: list[Check], output: str | None) -> str:
    from rich.text import Text

    from chathpc.reports.page import Page

    page = Page(style_for(output))
    widest = max(len(check.name) for check in checks if len(check.name) <= 24)
    group = ""
    for check in checks:
        if check.group != group:
            group = check.group
            page.heading(group)
        mark = Text("ok     ", style="green") if check.ok else Text("missing", style="yellow")
        name = Text(page.style.name(check.name).ljust(widest), style="bold")
        words = page.sentence(check.detail or check.remedy, "" if check.ok else "dim")
        page.hanging(Text.assemble("   ", mark, "  ", name, "  "), words)
        if check.detail and check.remedy:
            page.paragraph(check.remedy, indent=12, style="dim")
    return page.text()
