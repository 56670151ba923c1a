"""The documentation leads somewhere, shows commands that exist, and the repository names no one's machine."""

from __future__ import annotations

import configparser
import itertools
import re
import shlex
import subprocess
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import click
import pytest

from chathpc.chat.tools import TOOLS
from chathpc.commands.main import INTERNAL_ERROR, INTERRUPTED
from chathpc.errors import ChathpcError
from chathpc.jobs.post import _JOB_IDS, END_TIME
from chathpc.llm.keys import ENVIRONMENT_KEY

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]

LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)|!\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
HEADING = re.compile(r"^#{1,6} +(.+?) *$", re.MULTILINE)

# A home directory or a root's folder at the start of an absolute path. The names in brackets stand for anybody, or are planted.
MACHINE_PATH = re.compile(
    r"(?<![\w.\-/}>)])/(?:root|work|Users|home/(?!(?:alice|alice-secret|bob|me|planted|planted-user|secret|SECRET|user|you)\b)[\w.-]+)/"
)
# Measured databases and recorded profiles say where they were measured.
RECORDED = re.compile(r"(^|/)(database|tests/data)/")


def anchors(text: str) -> set[str]:
    """Anchors of a page's headings, by GitHub's rule: lower case, punctuation dropped, blanks to hyphens."""
    headings = HEADING.findall(FENCE.sub("", text))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def relative_links(page: Path) -> Iterator[str]:
    for match in LINK.finditer(FENCE.sub("", page.read_text(encoding="utf-8"))):
        target = match.group(1) or match.group(2)
        if not re.match(r"[a-z]+:", target):
            yield target


def shown_commands(page: Path) -> Iterator[str]:
    """Command lines that call chathpc in the page's code blocks."""
    for block in FENCE.findall(page.read_text(encoding="utf-8")):
        for line in block.splitlines():
            command = line.strip().removeprefix("$ ")
            if re.match(r"chathpc [a-z]", command):
                yield command.split("  #")[0].split(" | ")[0]  # behind a pipe is another program


def repository_files() -> list[Path]:
    """Files under version control or about to be, links left out."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout
    files = [ROOT / name for name in listed.split("\0") if name]
    return [file for file in files if file.is_file() and not file.is_symlink()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_relative_links_lead_to_a_file_and_a_heading(page: Path) -> None:
    broken = []
    for target in relative_links(page):
        name, _, anchor = target.partition("#")
        file = (page.parent / name).resolve() if name else page
        if not file.exists() or (anchor and anchor not in anchors(file.read_text(encoding="utf-8"))):
            broken.append(target)
    assert broken == []


@pytest.mark.parametrize("page", [page for page in PAGES if page.name != "cli.md"], ids=lambda page: page.name)
def test_commands_and_options_that_are_shown_exist(page: Path) -> None:
    cli = import_module("chathpc.commands.main").cli
    unknown = []
    for line in shown_commands(page):
        command: click.Command | None = cli
        words = list(
            itertools.takewhile(lambda word: word != "--", shlex.split(line)[1:])
        )  # behind it is another program
        while isinstance(command, click.Group) and words:
            command = command.get_command(click.Context(command), words.pop(0))
        known = {name for parameter in command.params for name in parameter.opts} if command else set()
        options = {word.split("=")[0] for word in words if word.startswith("-")}
        if command is None or options - known - {"--help"}:
            unknown.append(line)
    assert unknown == []


def test_the_readme_lists_the_exit_code_of_every_error() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    listed = {int(code) for code in re.findall(r"^\| (\d+) \|", text, re.MULTILINE)}
    kinds: set[type[ChathpcError]] = {ChathpcError, *ChathpcError.__subclasses__()}
    assert listed == {0, INTERNAL_ERROR, INTERRUPTED} | {kind.exit_code for kind in kinds}


def test_the_readme_lists_every_extra_of_users() -> None:
    settings = configparser.ConfigParser()
    settings.read(ROOT / "setup.cfg", encoding="utf-8")
    table = (ROOT / "README.md").read_text(encoding="utf-8").split("| extra | brings |")[1].split("\n\n")[0]
    listed = re.findall(
        r"`([\w-]+)`", "".join(row.split("|")[1] for row in table.splitlines() if row.startswith("| `"))
    )
    assert sorted(listed) == sorted(settings["options.extras_require"])


def test_the_page_on_mcp_lists_the_tools_that_the_server_offers() -> None:
    told = (ROOT / "docs" / "mcp.md").read_text(encoding="utf-8").split("**Tools**")[1].split(". Each answers")[0]
    assert set(re.findall(r"`(\w+)`", told)) == {*TOOLS, "open_profile"}


def test_the_page_on_jobs_lists_the_environment_variables_that_are_read() -> None:
    page = (ROOT / "docs" / "jobs.md").read_text(encoding="utf-8")
    read = {*_JOB_IDS, END_TIME, ENVIRONMENT_KEY}
    for file in (ROOT / "chathpc").rglob("*.py"):
        # There it is the environment of the programs that are tried.
        if not {"sandbox", "fix", "bench"} & set(file.parts):
            read |= set(re.findall(r'environ(?:\.get\(|\[)"([A-Z_]+)"', file.read_text(encoding="utf-8")))
            read |= set(re.findall(r'"((?:XDG|HF)_[A-Z_]+)"', file.read_text(encoding="utf-8")))
    read.discard("CHATHPC_BASE_URL")  # one of the settings
    assert len(read) > 15
    assert not {name for name in read if f"`{name}" not in page}


def test_no_file_names_a_path_of_somebodys_machine() -> None:
    found = []
    for file in repository_files():
        name = file.relative_to(ROOT).as_posix()
        content = file.read_bytes()
        if RECORDED.search(name) or b"\0" in content:
            continue
        for number, line in enumerate(content.decode("utf-8", "replace").splitlines(), 1):
            if MACHINE_PATH.search(line):
                found.append(f"{name}:{number}: {line.strip()[:100]}")
    assert found == []


@pytest.mark.parametrize(
    ("line", "is_one"),
    [
        ("reads /" + "root/models/a.gguf", True),
        ("'/" + "work/main/x.py'", True),
        ("/home/" + "jane.doe/run", True),
        ("/home/" + "user/run", False),
        ("docs/" + "work/page.md", False),
        ("https://example.org/" + "root/page", False),
    ],
)
def test_a_machine_path_is_told_from_other_paths(line: str, is_one: bool) -> None:
    assert bool(MACHINE_PATH.search(line)) is is_one


def test_the_sample_in_the_readme_is_what_the_example_prints() -> None:
    sample = (ROOT / "README.md").read_text("utf-8").split("```text\n")[1].split("```")[0]
    report = (ROOT / "examples" / "omp-triangle" / "report.txt").read_text("utf-8")
    assert sample == f"$ chathpc explain database\n\n{report}"


def test_the_comparison_in_the_documentation_is_what_the_example_prints() -> None:
    sample = (ROOT / "docs" / "diff.md").read_text("utf-8").split("```text\n")[1].split("```")[0]
    assert sample == (ROOT / "examples" / "mesh-allocation" / "diff.txt").read_text("utf-8")
