"""`chathpc mcp`."""

from __future__ import annotations

from pathlib import Path

import click

from chathpc.commands.allocation import keep_freed_memory
from chathpc.commands.options import PLACE, PROFILE, patterns_option, source_option
from chathpc.errors import ChathpcError, UsageError


@click.command("mcp")
@click.argument("paths", metavar="[PATH]...", nargs=-1, type=PROFILE)
@click.option("--compare", metavar="PATH", multiple=True, type=PROFILE, help="A profile to compare with.")
@click.option(
    "--root", "roots", metavar="DIR", multiple=True, type=PLACE,
    help="Folder from which the client may open profiles. Default: none.",
)  # fmt: skip
@patterns_option
@source_option
@click.option("-v", "--verbose", is_flag=True, help="Log each call to stderr.")
def command(
    paths: tuple[Path, ...],
    compare: tuple[Path, ...],
    roots: tuple[Path, ...],
    patterns: Path | None,
    source: tuple[Path, ...],
    verbose: bool,
) -> None:
    """Answer other programs' questions about a profile.

    Speaks the Model Context Protocol on standard input and output until the input ends; a program that speaks it (an editor,
    an assistant) starts this by itself. All tools only read. Needs the extra 'mcp'. See docs/mcp.md.

    For example: chathpc mcp hpctoolkit-app-database
    """
    if not paths and not roots:
        raise UsageError("No profile was given.", hint="Give a profile, or a folder of profiles with --root.")
    keep_freed_memory([*paths, *compare])
    try:
        from chathpc.mcp.server import serve
    except ImportError as error:
        if not (error.name or "").startswith(("mcp", "anyio")):
            raise
        raise ChathpcError(
            "chathpc mcp needs the package mcp, version 2.3 or newer.", hint="pip install 'chathpc[mcp]'"
        ) from None
    from chathpc.llm.settings import load_settings, patterns_of
    from chathpc.mcp.opened import OpenProfiles

    settings = load_settings({"patterns": patterns, "source": source})
    profiles = OpenProfiles(paths, compare=compare, roots=roots, patterns=patterns_of(settings), source=settings.source)
    serve(profiles, verbose=verbose)
