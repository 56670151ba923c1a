"""Fifty planted secrets: none leaves the machine, none is in a log or a report, at any verbosity."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

import chathpc
from chathpc.commands.main import main
from chathpc.profile.profile import Profile
from chathpc.profile.source_text import SourceExcerpt
from chathpc.profile.tree import NodeKind, Relation
from chathpc.reports import FORMATS
from tests.profile.build import build, call, node
from tests.security.conftest import World
from tests.security.hostile import carrying
from tests.synthetic.nsight_systems import all_features

_HEX = "9f86d081884c7d65"
KEYS = {
    "OPENAI_API_KEY": f"sk-proj-{_HEX}A1",
    "ANTHROPIC_API_KEY": f"sk-ant-api03-{_HEX}",
    "AWS_ACCESS_KEY_ID": "AKIAQUOKKA7WOMBAT3XY",
    "AWS_SECRET_ACCESS_KEY": f"wJalrXUtnFEMI/{_HEX}",
    "GITHUB_TOKEN": f"ghp_{_HEX}abcdEFGH01234567",
    "GH_PAT_TOKEN": f"github_pat_11ABCDE_{_HEX}",
    "GITLAB_TOKEN": f"glpat-{_HEX}xyz",
    "HF_TOKEN": f"hf_{_HEX}QwErTyUiOpAsDf12",
    "NGC_API_KEY": f"nvapi-{_HEX}abc",
    "SLACK_TOKEN": f"xoxb-1234567890-{_HEX}",
    "GOOGLE_API_KEY": f"AIzaSy{_HEX}abcdefghijklmnopq",
    "JWT_TOKEN": f"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIx{_HEX}.c2lnbmF0dXJl",
    "WANDB_API_KEY": f"{_HEX}{_HEX}00112233",
    "VAULT_TOKEN": f"hvs.CAESI{_HEX}",
    "DB_PASSWORD": "wombat-Correct-Horse-7",
}
URLS = {f"sch{n}://quokka{n}:tr0ub4dor{n}x@db{n}.bilby.example:54{n}2/data": f"tr0ub4dor{n}x" for n in range(10)}
OPTIONS = {
    "--password Sw0rdfish-1": "Sw0rdfish-1",
    "--api-key=Sw0rdfish-2": "Sw0rdfish-2",
    "--auth-token Sw0rdfish-3": "Sw0rdfish-3",
    "PASSWD=Sw0rdfish-4": "Sw0rdfish-4",
    "Authorization: Bearer Sw0rdfish-55": "Sw0rdfish-55",
}
HOSTS = [f"nid{n:03d}-numbat{n}.cluster{n}.example" for n in range(10)]
USERS = [f"dingo{n}wallaby" for n in range(10)]
#: Credentials are secret from everybody, names of hosts and users from those outside.
CREDENTIALS = [*KEYS.values(), *URLS.values(), *OPTIONS.values()]
SECRETS = [*CREDENTIALS, *HOSTS, *USERS]
#: Everything in one text, as a program may print it, or give it to a profiler as the name of a range.
ALL = " ".join([*KEYS.values(), *URLS, *OPTIONS, *HOSTS, *USERS])
PARTS = [f"{name}={value}" for name, value in KEYS.items()] + [*URLS, *OPTIONS, *HOSTS, *USERS]


def test_there_are_fifty() -> None:
    assert len(set(SECRETS)) == 50


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch, world: World) -> World:
    """The secrets in the environment of this process, as in a job."""
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    for number, url in enumerate(URLS):
        monkeypatch.setenv(f"DATABASE_URL_{number}", url)
    monkeypatch.setenv("JOB_COMMAND", f"./app {' '.join(OPTIONS)}")
    monkeypatch.setenv("SLURM_JOB_NODELIST", ",".join(HOSTS))
    monkeypatch.setenv("HOSTNAME", HOSTS[0])
    monkeypatch.setenv("USER", USERS[0])
    monkeypatch.setenv("CHATHPC_LOG", "true")
    return world


def nsight(folder: Path) -> Path:
    """An export of Nsight Systems with the secrets where it keeps environment, command line and captured output."""
    path = folder / "report.sqlite"
    export = all_features()
    export.string(ALL)
    export.write(path)
    with closing(sqlite3.connect(path)) as database, database:
        strings = dict(database.execute("SELECT value, id FROM StringIds"))
        database.execute(
            "CREATE TABLE TARGET_INFO_SYSTEM_ENV (globalVid INTEGER, devStateName TEXT, name TEXT, nameEnum INTEGER, value TEXT)"
        )
        database.executemany(
            "INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES (0, 'env', ?, 0, ?)",
            [(part.partition("=")[0], part) for part in PARTS],
        )
        database.execute("CREATE TABLE PROCESS_STREAMS (globalPid INTEGER, filenameId INTEGER, contentId INTEGER)")
        database.execute("INSERT INTO PROCESS_STREAMS VALUES (7, ?, ?)", (strings[ALL], strings[ALL]))
        database.execute("CREATE TABLE META_DATA_CAPTURE (name TEXT, value TEXT)")
        database.executemany(
            "INSERT INTO META_DATA_CAPTURE VALUES (?, ?)", [("COMMAND_LINE", f"./app {ALL}"), ("HOST", " ".join(HOSTS))]
        )
    return path


def perf(folder: Path) -> Path:
    """Samples of Linux perf whose header has host and command line."""
    path = folder / "samples.txt"
    head = f"# ========\n# hostname : {HOSTS[1]}\n# cmdline : /usr/bin/perf record ./app {ALL}\n# ========\n#\n"
    sample = "app  123 [000] 10.{:06d}:     250000 cpu-clock:u:\n\t  4005d0 compute+0x10 (/tmp/app)\n\t  400600 main+0x20 (/tmp/app)\n\n"
    path.write_text(head + "".join(sample.format(number) for number in range(400)))
    return path


def ranges(_folder: Path) -> Profile:
    """Each secret is a part of the name of a range with time of its own, so that all are in the prompt's call tree."""
    each = [
        node(NodeKind.REGION, Relation.CALL, f"step {part}", call(f"step{number}", time=1.0, at="app.c:7"))
        for number, part in enumerate(PARTS)
    ]
    return build(call("main", call("hot", time=60.0, at="app.c:3"), *each, at="app.c:1"), title="app")


def comment(_folder: Path) -> Profile:
    def read(file: str, number: int, context: int) -> SourceExcerpt:
        return SourceExcerpt(file, number, tuple(f"// {part}" for part in PARTS))

    return replace(carrying(symbol="hot"), read_source=read)


def message(_folder: Path) -> Profile:
    return carrying(compiler_message=ALL)


def run_facts(_folder: Path) -> Profile:
    facts = {"command": f"./app {ALL}", "host": " ".join(HOSTS), "user": " ".join(USERS), "output": ALL}
    return replace(carrying(symbol="hot"), run=facts, title=f"app {' '.join(OPTIONS)}", hardware={"cpu": "Xeon"})


SOURCES: dict[str, Callable[[Path], Path | Profile]] = {
    "nsight": nsight, "perf": perf, "range": ranges, "comment": comment, "message": message, "facts": run_facts,
}  # fmt: skip


def logged(folder: Path) -> str:
    """All that the log holds, read without it."""
    return b"".join(file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()).decode(
        "utf-8", "replace"
    )


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("mode", ["default", "all"])
def test_no_secret_leaves(
    source: str, mode: str, planted: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    chathpc.explain(SOURCES[source](tmp_path), llm="openai:puppet", confidential=mode)
    assert planted.sent
    kept = logged(tmp_path / "state")
    assert '"confidential": "' in kept
    for secret in SECRETS:
        for text in (planted.sent[0].decode(), kept):
            assert secret not in text
            assert secret.lower() not in text.lower()


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("llm", ["none", "scripted:puppet", "openai:puppet"])
def test_no_credential_is_in_a_report_a_log_or_a_prompt_even_without_placeholders(
    source: str,
    llm: str,
    planted: World,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    made = SOURCES[source](tmp_path)
    loaded = chathpc.load(made) if isinstance(made, Path) else made
    monkeypatch.setattr(chathpc, "load", lambda *paths, format=None: loaded)
    for form in FORMATS:
        for extra in ([], ["-v"], ["-v", "--confidential", "none"]):
            main(["--debug", "explain", "db", "--llm", llm, "--format", form, *extra])
    out, err = capsys.readouterr()
    assert out
    shown = {"stdout": out, "stderr": err, "log": logged(tmp_path / "state"), "sent": b"".join(planted.sent).decode()}
    for name, text in shown.items():
        for secret in CREDENTIALS:
            assert secret not in text, name
        if source in ("nsight", "perf"):  # a profile's own names are in the report, what stands beside them is not
            for secret in SECRETS:
                assert secret not in text, name


def test_the_key_is_in_the_header_only(planted: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["explain", str(perf(tmp_path)), "--llm", "openai:puppet", "--show-prompt"])
    shown = "".join(capsys.readouterr())
    assert '"messages"' in shown
    assert planted.sent == []
    assert not [secret for secret in SECRETS if secret in shown]
