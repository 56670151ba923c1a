"""Write the generated pages of the documentation; with --check, only say which of them are out of date.

docs/cli.md               the help page of every command
docs/report-schema.json   JSON schema of a report
docs/diff-schema.json     JSON schema of a comparison
docs/scale-schema.json    JSON schema of a series of runs
docs/ranks-schema.json    JSON schema of how a run is spread over its ranks and threads
docs/answer-schema.json   JSON schema of an answer to a question
docs/project-schema.json  JSON schema of the key `project` of a chathpc.yaml
docs/formats.md           the built-in adapters
docs/catalogue.md         every cause that chathpc knows: signs, thresholds, advice
docs/recipes.md           every recipe of chathpc fix: what it changes and what must hold
docs/fix-schema.json      JSON schema of what chathpc fix found
docs/prediction-schema.json  JSON schema of what chathpc predict says
docs/devices-schema.json  JSON schema of devices ranked by chathpc predict --on
docs/diff.md, fix.md, scale.md  their tables of thresholds; the rest of these pages is written by hand
"""

from __future__ import annotations

import argparse
import difflib
import json
import runpy
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import click
from click.testing import CliRunner

DOCS = Path(__file__).resolve().parent
WIDTH = 88
#: What makes the page of the catalogue, and tables of thresholds.
CATALOGUE = runpy.run_path(str(DOCS / "catalogue_page.py"))
#: Marks around what is generated inside a page that is written by hand.
BEGIN, END = "<!-- thresholds: made by make docs -->", "<!-- end of thresholds -->"


def commands(
    command: click.Command, path: tuple[str, ...] = (), parent: click.Context | None = None
) -> Iterator[tuple[str, ...]]:
    """Paths of a command and all its sub-commands, parents first; hidden ones left out."""
    yield path
    if isinstance(command, click.Group):
        context = click.Context(command, info_name=path[-1] if path else "chathpc", parent=parent)
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            if child is not None and not child.hidden:
                yield from commands(child, (*path, name), context)


def help_page(cli: click.Group, path: tuple[str, ...]) -> str:
    """What `chathpc PATH… --help` prints, WIDTH columns wide."""
    result = CliRunner().invoke(
        cli, [*path, "--help"], prog_name="chathpc", terminal_width=WIDTH, max_content_width=WIDTH
    )
    if result.exit_code != 0:
        raise SystemExit(f"chathpc {' '.join(path)} --help ended with {result.exit_code}: {result.output}")
    return "\n".join(line.rstrip() for line in result.output.strip().splitlines())


def cli_page() -> str:
    """docs/cli.md: one section for each command."""
    cli: click.Group = import_module("chathpc.commands.main").cli
    parts = ["# Command line", "The help page of every command, as `--help` prints it. Made by `make docs`."]
    for path in commands(cli):
        parts.append(f"## {' '.join(('chathpc', *path))}\n\n```text\n{help_page(cli, path)}\n```")
    return "\n\n".join(parts) + "\n"


def formats_page() -> str:
    """docs/formats.md: what the built-in adapters read, in the order in which they are asked."""
    adapters = import_module("chathpc.adapters.registry").built_in().adapters
    rows = [f"| `{adapter.name}` | {adapter.reads.replace(chr(124), chr(92) + chr(124))} |" for adapter in adapters]
    lead = (
        "What chathpc reads, in the order in which formats are recognised; files packed by gzip, xz or zstd as well. "
        "Made by `make docs`; more in [adapters.md](adapters.md)."
    )
    return "\n".join(["# Formats", "", lead, "", "| format | reads |", "|---|---|", *rows]) + "\n"


def schema_page(place: str = "chathpc.report:Report", mode: str = "serialization") -> str:
    """The schema of what `--format json` prints, or with mode `validation` of what users write."""
    module, _, name = place.partition(":")
    # In what is written, fields that have a default are always present.
    schema = getattr(import_module(module), name).model_json_schema(by_alias=True, mode=mode)
    dialect = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return json.dumps(dialect | schema, indent=2, ensure_ascii=False) + "\n"


def with_thresholds(name: str, module: str) -> str:
    """The page with the table of the module's thresholds between its two marks; SystemExit if it has none."""
    page = (DOCS / name).read_text(encoding="utf-8")
    table = CATALOGUE["thresholds_table"](import_module(module).thresholds())
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"docs/{name} has no place for its table between {BEGIN} and {END}")
    return f"{before}{begin}\n\n{table}\n\n{end}{after}"


def pages() -> dict[Path, str]:
    """File and text of every generated page."""
    return {
        DOCS / "cli.md": cli_page(),
        DOCS / "report-schema.json": schema_page(),
        DOCS / "diff-schema.json": schema_page("chathpc.comparison.record:Diff"),
        DOCS / "answer-schema.json": schema_page("chathpc.chat.record:Answer"),
        DOCS / "project-schema.json": schema_page("chathpc.fix.project_schema:ProjectValues", "validation"),
        DOCS / "formats.md": formats_page(),
        DOCS / "catalogue.md": CATALOGUE["page"](),
        DOCS / "recipes.md": import_module("chathpc.fix.recipes.page").to_markdown(),
        DOCS / "fix-schema.json": schema_page("chathpc.fix.report:FixReport"),
        DOCS / "prediction-schema.json": schema_page("chathpc.predict.record:PredictionRecord"),
        DOCS / "devices-schema.json": schema_page("chathpc.predict.ranking:RankingRecord"),
        DOCS / "diff.md": with_thresholds("diff.md", "chathpc.comparison.thresholds"),
        DOCS / "fix.md": with_thresholds("fix.md", "chathpc.fix.thresholds"),
        DOCS / "scale.md": with_thresholds("scale.md", "chathpc.scale.thresholds"),
        DOCS / "scale-schema.json": schema_page("chathpc.scale.record:Scaling"),
        DOCS / "ranks-schema.json": schema_page("chathpc.scale.record:SpreadRecord"),
    }


def stale(file: Path, text: str) -> list[str]:
    """Lines of a unified diff from the file to what it should hold; empty if they are the same."""
    current = file.read_text(encoding="utf-8") if file.exists() else ""
    name = file.relative_to(DOCS.parent).as_posix()
    return list(difflib.unified_diff(current.splitlines(), text.splitlines(), name, f"{name} (new)", lineterm="", n=1))


def main(arguments: list[str]) -> int:
    """Write the pages, or compare them; 1 if --check found one out of date."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a page is out of date")
    options = parser.parse_args(arguments)
    outdated = 0
    for file, text in pages().items():
        difference = stale(file, text)
        if options.check and difference:
            outdated += 1
            print("\n".join(difference[:20]))
            print(f"docs/{file.name} is out of date; `make docs` writes it.\n")
        elif options.check:
            print(f"docs/{file.name} is up to date.")
        elif difference:
            file.write_text(text, encoding="utf-8")
            print(f"docs/{file.name} written.")
    return 1 if outdated else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
