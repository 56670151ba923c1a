"""What a profile names is data: no name opens a file that is not source below a folder that may be read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import chathpc
from chathpc.chat.opening import open_conversation
from chathpc.chat.tools import call
from chathpc.errors import UsageError
from chathpc.llm.settings import load_settings
from chathpc.llm.spec import Choice
from chathpc.mcp.opened import OpenProfiles
from chathpc.pipeline import prompt
from chathpc.profile import source_text
from chathpc.profile.profile import Profile
from chathpc.profile.source_text import LARGEST_SOURCE, Bounds, Provenance, SourceFiles, no_source, with_sources
from tests.llm.scripted import ScriptedBackend
from tests.synthetic.hpctoolkit_v4 import TIME, Database, entry, function, line, point, write

SECRET = "-----BEGIN OPENSSH PRIVATE KEY-----"
TEXT = "int main(void)\n{\n}\n"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with keys, and a project in it with all that could lead to them."""
    (tmp_path / ".ssh").mkdir()
    for file in (".ssh/id_rsa", ".ssh/id_rsa.c", "key.pem", "secret.c"):
        (tmp_path / file).write_text(SECRET)
    root = tmp_path / "project"
    (root / "src").mkdir(parents=True)
    (root / "src" / "heat.c").write_text(TEXT)
    for file in ("key.pem", "id_rsa", "notes.txt", "passwd", "Makefile", "c"):
        (root / file).write_text(SECRET)
    (root / "out.c").symlink_to(tmp_path / "secret.c")
    (root / "passwd.c").symlink_to("/etc/passwd")
    (root / "key.c").symlink_to("key.pem")
    (root / "loop.c").symlink_to("loop.c")
    (root / "gone.c").symlink_to("nothing.c")
    (root / "null.c").symlink_to("/dev/null")
    (root / "away").symlink_to(tmp_path, target_is_directory=True)
    (root / ".git").mkdir()
    (root / ".git" / "hook.c").write_text(SECRET)
    (root / "folder.c").mkdir()
    os.mkfifo(root / "pipe.c")
    (root / "binary.c").write_bytes(b"\x7fELF\0\0")
    with (root / "huge.c").open("wb") as file:
        file.truncate(LARGEST_SOURCE + 1)
    return tmp_path


HOSTILE = [
    "/etc/passwd", "/etc/passwd.c", "passwd", "passwd.c", "~/.ssh/id_rsa", "/etc/.ssh/id_rsa", ".ssh/id_rsa", "id_rsa", "id_rsa.c",
    "key.pem", "KEY.PEM", "key.c", "../key.pem", "../secret.c", "../../etc/passwd", "src/../../secret.c", "away/secret.c", "out.c", "loop.c",
    "gone.c", "null.c", "/dev/null", "/dev/stdin", "/proc/self/environ", "/proc/self/environ.c", "pipe.c", "folder.c", "binary.c", "huge.c", ".git/hook.c",
    "notes.txt", "Makefile", "c", "HEAT.C", "Heat.c", "heat.C", "", ".", "..", "/", "a\0.c", "src/heat.c\0.txt", "x" * 5000 + ".c", "[libm.so.6]",
    "heat.c/", "file:///etc/passwd", "\\\\server\\share\\key.pem", "/usr/include/heat.c", "src/usr/lib/gcc/heat.c",
]  # fmt: skip


@pytest.mark.parametrize("file", HOSTILE)
@pytest.mark.parametrize("named", [True, False])
def test_no_name_in_a_profile_opens_anything_but_source_below_the_root(home: Path, file: str, named: bool) -> None:
    root = home / "project"
    reader = with_sources(no_source, [root] if named else [], below=None if named else root)
    found = reader(file, 1, 0)
    assert found is None or (found.lines == ("int main(void)",) and file == "heat.c/")


def test_the_source_itself_is_read(home: Path) -> None:
    root = home / "project"
    for reader, provenance in (
        (with_sources(no_source, [root]), Provenance.NAMED),
        (with_sources(no_source, below=root), Provenance.FOUND),
    ):
        for file in ("heat.c", "/home/you/src/heat.c", "../../heat.c", "C:\\x\\heat.c"):
            found = reader(file, 1, 0)
            assert found is not None
            assert (found.file, found.lines, found.provenance) == (file, ("int main(void)",), provenance)


def test_a_whole_explanation_opens_no_key(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("~/.ssh/id_rsa", "key.pem", "/etc/passwd", "../secret.c", "out.c", "src/heat.c")
    lines = [line(name, 1, point(1, {TIME: {0: 1.0}})) for name in names]
    database = write(tmp_path / "run", Database([entry(function("main", *lines))])).path
    opened: list[str] = []
    monkeypatch.chdir(home / "project")
    real = os.open
    monkeypatch.setattr(os, "open", lambda path, *args, **given: opened.append(str(path)) or real(path, *args, **given))
    report = chathpc.explain(chathpc.load(database), llm="none", source=[home / "project"])
    assert SECRET not in report.model_dump_json()
    assert "heat.c" in opened
    assert not {Path(path).name for path in opened} & {"id_rsa", "key.pem", "passwd", "secret.c", "out.c"}


def test_a_folder_that_becomes_a_link_after_it_was_looked_at_leads_nowhere(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = home / "project"
    (home / "heat.c").write_text(SECRET)
    look = source_text._inside

    def swapped(base: Path, path: str) -> Path | None:
        real = look(base, path)
        if not (root / "src").is_symlink():
            (root / "src").rename(root / "moved")
            (root / "src").symlink_to(home, target_is_directory=True)
        return real

    monkeypatch.setattr(source_text, "_inside", swapped)
    assert source_text.read_within(root, "src/heat.c") is None


def test_a_pipe_that_takes_the_place_of_a_file_does_not_hold_up(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = home / "project"
    monkeypatch.setattr(source_text, "_inside", lambda base, path: root.resolve() / "pipe.c")
    assert source_text.read_within(root, "src/heat.c") is None


def test_a_search_that_is_too_large_finds_nothing_rather_than_a_part(home: Path) -> None:
    root = home / "project"
    assert source_text.source_files(root, Bounds(5, 10.0)) is None
    assert source_text.source_files(root, Bounds(1000, 0.0)) is None
    assert "src/heat.c" in (source_text.source_files(root, Bounds(1000, 10.0)) or [])


def test_a_named_folder_that_is_too_large_is_an_error_that_says_so(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_text, "NAMED_BOUNDS", Bounds(5, 10.0))
    reader = with_sources(no_source, [home / "project"])
    with pytest.raises(UsageError, match="too many files"):
        reader("heat.c", 1, 0)


def test_what_is_named_must_be_a_folder(home: Path) -> None:
    for path in (home / "nothing", home / "project" / "src" / "heat.c"):
        with pytest.raises(UsageError, match="not a folder"):
            with_sources(no_source, [path])


def test_builds_profiles_and_hidden_folders_are_not_searched(tmp_path: Path) -> None:
    for folder in ("build", "cmake-build-x", ".cache", "node_modules", "db", "measured", "src"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "heat.c").write_text(folder)
    (tmp_path / "db" / "meta.db").write_text("")
    (tmp_path / "measured" / "measure.json").write_text("{}")
    found = with_sources(no_source, below=tmp_path)("heat.c", 1, 0)
    assert found is not None
    assert found.lines == ("src",)


def test_the_profile_comes_before_what_is_named_and_that_before_what_is_found(tmp_path: Path) -> None:
    for folder in ("own", "named", "found"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.c").write_text(folder)
    (tmp_path / "named" / "b.c").write_text("named")
    for file in ("b.c", "c.c"):
        (tmp_path / "found" / file).write_text("found")
    own = source_text.copied(tmp_path / "own")
    reader = with_sources(with_sources(own, below=tmp_path / "found"), [tmp_path / "named"])
    assert [(e.lines[0] if (e := reader(file, 1, 0)) else None) for file in ("a.c", "b.c", "c.c", "d.c")] == [
        "own", "named", "found", None,
    ]  # fmt: skip
    assert isinstance(reader, SourceFiles)
    assert reader.missing == ("d.c",)
    assert reader.found == {"a.c": "profile", "b.c": "named", "c.c": "found"}
    shown = source_text.only_shown(reader)
    assert [shown(file, 1, 0) is not None for file in ("a.c", "b.c", "c.c")] == [True, True, False]


def test_a_profile_tells_which_of_its_files_were_sought_and_not_found(tmp_path: Path) -> None:
    names = ("src/a.c", "/usr/include/x.h", "[libm.so.6]", "b.c")
    lines = [line(name, 1, point(1, {TIME: {0: 1.0}})) for name in names]
    database = write(tmp_path, Database([entry(function("main", *lines))])).path
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "b.c").write_text(TEXT)
    profile: Profile = chathpc.load(database, source=[tmp_path / "there"])
    assert profile.sources_missing == ()
    for node in range(len(profile.tree)):
        profile.source(node)
    assert profile.sources_missing == ("src/a.c",)
    assert profile.sources_found == {"b.c": Provenance.NAMED}


def hot(folder: Path) -> Path:
    """A database whose time is in a loop with a stride, without its source; that lies in `folder`/code."""
    (folder / "code").mkdir(parents=True)
    (folder / "code" / "hot.c").write_text(STRIDED)
    row = line("hot.c", 4, point(1, {TIME: {0: 100.0}}))
    return write(folder / "run", Database([entry(function("walk", row, file="hot.c", line=1))])).path


STRIDED = """double walk(double a[4096][4096]) {
  double s = 0;
  for (int secret_i = 0; secret_i < 4096; secret_i++)
    for (int secret_j = 0; secret_j < 4096; secret_j++) s += a[secret_j][secret_i];
  return s;
}
"""
ASKED = {"llm": "openai:large", "base_url": "http://127.0.0.1:9/v1", "confidential": "none"}


def test_a_hosted_model_is_shown_named_source_and_nothing_of_what_was_only_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    profile = chathpc.load(hot(tmp_path))
    monkeypatch.chdir(tmp_path)
    found, named = prompt(profile, **ASKED).body, prompt(profile, source=[tmp_path / "code"], **ASKED).body
    assert b"secret_" in named
    assert b"secret_" not in found
    assert b"as its source shows" not in found
    report = chathpc.explain(profile, llm="none")
    assert any("its source shows" in finding.summary for finding in report.findings)  # the user is told of it


def test_the_report_says_that_a_hosted_model_was_not_shown_what_was_only_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def choices(*_arguments: object) -> Iterator[Choice]:
        yield Choice(ScriptedBackend(lambda _request: iter(("Nothing.",)), form="prose"))

    monkeypatch.setattr("chathpc.llm.spec.choices", choices)
    profile = chathpc.load(hot(tmp_path))
    monkeypatch.chdir(tmp_path)
    for served, source, unseen in ((True, [], True), (True, [tmp_path / "code"], False), (False, [], False)):
        monkeypatch.setattr(Choice, "serves", served)
        note = chathpc.explain(profile, llm="openai:large", source=source).explanation.note
        assert ("was not shown the source" in (note or "")) is unseen


def test_a_conversation_with_a_hosted_model_forgets_what_was_only_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = hot(tmp_path)
    monkeypatch.chdir(tmp_path)
    settings = load_settings({"base_url": ASKED["base_url"]})
    for llm, source, seen in (
        ("none", (), True),
        (ASKED["llm"], (), False),
        (ASKED["llm"], (tmp_path / "code",), True),
    ):
        chosen = settings.model_copy(update={"source": source})
        session = open_conversation([database], llm=llm, settings=chosen)[0].session
        shown = " ".join(call(session, "source", {"place": "walk"}).lines)
        assert ("secret_" in shown) is seen
        assert any("its source shows" in finding.summary for finding in session.diagnosis.findings) is seen


def test_a_client_of_the_server_is_not_shown_what_was_only_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = hot(tmp_path)
    monkeypatch.chdir(tmp_path)
    for source, seen in (([], False), ([tmp_path / "code"], True)):
        session = OpenProfiles([database], source=source).session
        assert ("secret_" in " ".join(call(session, "source", {"place": "walk"}).lines)) is seen


def test_the_users_settings_may_name_source_and_those_of_a_project_may_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    user = tmp_path / "user" / "chathpc" / "config.yaml"
    user.parent.mkdir(parents=True)
    user.write_text("source: [~/code, /srv/code]\n")
    environ = {"XDG_CONFIG_HOME": str(tmp_path / "user")}
    code = (Path("~/code").expanduser(), Path("/srv/code"))
    assert load_settings(environ=environ, cwd=tmp_path).source == code
    assert load_settings({"source": [Path("x")]}, environ=environ, cwd=tmp_path).source == (Path("x"),)
    assert load_settings({"source": ()}, environ=environ, cwd=tmp_path).source == code
    (tmp_path / "chathpc.yaml").write_text("source: [/]\n")
    assert load_settings(environ={}, cwd=tmp_path).source == ()
