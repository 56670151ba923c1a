"""What runs do beside their answers: records of strace are read rightly, and changes that leave something undone are not accepted.

The truth is what the programs here are written to do: so many writes, syncs, renames, children.
"""

from __future__ import annotations

import os
import shutil
import socket
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chathpc.errors import UsageError
from chathpc.fix.effects import Effects, Kind, Record, compare_effects
from chathpc.fix.gates import effects as gate
from chathpc.fix.gates.examination import Reference
from chathpc.fix.gates.speed import writes_less
from chathpc.fix.left_files import left_files, missing_or_other, state, unsteady
from chathpc.fix.project import Check, Project, Run
from chathpc.fix.records import GateResult, Verdict
from chathpc.fix.runner import Case, Runner
from chathpc.fix.workspace import Workspace
from chathpc.sandbox import Request, Sandbox
from chathpc.sandbox.bubblewrap import Bubblewrap
from chathpc.sandbox.landlock import Landlock
from chathpc.sandbox.supervised import Plain
from tests.fix.parts import Unguarded

pytestmark = [
    pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace"),
    pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler"),
]
#: A program of few calls, each known: in a folder it writes, syncs, renames, and starts a child.
# What is synced to disk takes its time wherever this runs.
HEAD = """#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
static void put(const char *name, const char *text, int flags, int synced) {
  int f = open(name, O_WRONLY | O_CREAT | flags, 0644);
  write(f, text, strlen(text));
  if (synced) { fsync(f); usleep(2000); }
  close(f);
}
"""
RESTART = (
    HEAD
    + """
int main(void) {
  for (int i = 0; i < 20; i++) {
    char text[64];
    sprintf(text, "step %d\\n", i);
    put("restart.tmp", text, O_TRUNC, 1);
    rename("restart.tmp", "restart");
    put("journal", text, O_APPEND, 0);
  }
  system("cp restart kept");
  chmod("kept", 0600);
  printf("sum 1.5\\n");
  return 0;
}
"""
)


def project(folder: Path, text: str = RESTART) -> Project:
    """The program in `folder`."""
    root = folder / "prog"
    root.mkdir(parents=True, exist_ok=True)
    (root / "app.c").write_text(text)
    return Project(root=root, build="cc -O1 -w -o app app.c", run=Run("run", "./app"), edit=("*.c",))


def reference(folder: Path, text: str = RESTART, sandbox: Sandbox | None = None) -> Reference:
    """The program, built."""
    space = Workspace(folder / "work")
    found = project(folder, text)
    space.prepare(found.root)
    runner = Runner(found, sandbox or Plain(), space)
    built = runner.build({}, None)
    assert built.completed.succeeded, built.completed.stderr
    return Reference(runner, built)


@pytest.fixture(scope="module")
def restart(tmp_path_factory: pytest.TempPathFactory) -> Reference:
    return reference(tmp_path_factory.mktemp("restart"))


def judged(original: Reference, text: str) -> GateResult:
    """What the gate says of another version of the program."""
    changed = original.runner.build({"app.c": text}, None)
    assert changed.completed.succeeded, changed.completed.stderr
    return gate.examine(original, changed)


def edited(old: str, new: str, text: str = RESTART) -> str:
    assert text.count(old) == 1, old
    return text.replace(old, new)


# -- the record ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sandbox", [Bubblewrap(), Landlock(), Plain()], ids=lambda each: each.name)
def test_a_record_counts_what_a_program_does(sandbox: Sandbox, tmp_path: Path) -> None:
    original = reference(tmp_path, sandbox=sandbox)
    assert original.runner.traces
    ran = original.runner.run(original.built, Case(original.runner.project.run), traced=True)
    found = ran.effects
    assert found is not None
    assert found.whole
    assert found.reached == ""
    text = sum(len(f"step {i}\n") for i in range(20))
    assert found.of(Kind.BYTES) == {"restart.tmp": text, "journal": text, "kept": len("step 19\n")}
    assert found.of(Kind.CALLS)["journal"] == 20
    assert found.of(Kind.SYNCED) == {"restart.tmp": 20}
    assert found.of(Kind.RENAMED) == {"restart": 20}
    assert found.of(Kind.REWRITTEN)["restart.tmp"] == 20
    assert "journal" not in found.of(Kind.REWRITTEN)
    children = found.of(Kind.CHILD)
    assert children['"./app", ["./app"]'] == 1
    assert any('["cp", "restart", "kept"]' in line for line in children)
    # The kernel's own count of an untraced run is what strace saw, but for the sandbox's few words.
    plain = original.runner.run(original.built, Case(original.runner.project.run))
    assert plain.effects is None
    assert plain.completed.written is not None
    assert 0 <= plain.completed.written - found.written < 300
    assert plain.left == ran.left
    assert {path: oct(each.mode) for path, each in ran.left.items()} == {
        "journal": "0o644", "kept": "0o600", "restart": "0o644",
    }  # fmt: skip


def test_names_of_files_are_read_whatever_they_hold(tmp_path: Path) -> None:
    names = [
        "plain",
        "with blank",
        'quo"te',
        "arrow>x",
        "back\\slash",
        "ümläut",
        "tab\there",
        "new\nline",
        "a, b = 3",
        "(deleted)",
    ]
    folder = tmp_path / "odd > folder"
    folder.mkdir()
    script = "import os\n" + "".join(
        f"f = os.open({name!r}, os.O_WRONLY | os.O_CREAT); os.write(f, b'12345'); os.close(f)\nos.rename({name!r}, {name + '.x'!r})\n"
        for name in names
    )
    record = Record(folder)
    done = Plain().run(Request(("/usr/bin/env", "python3", "-B", "-c", script), folder, trace=record.feed))
    assert done.succeeded, done.stderr
    assert record.effects.of(Kind.BYTES) == dict.fromkeys(names, 5)
    assert record.effects.of(Kind.RENAMED) == dict.fromkeys((f"{name}.x" for name in names), 1)


def test_relative_names_begin_where_a_process_is(tmp_path: Path) -> None:
    script = "mkdir a b; (cd a; echo 1 > x; mv x y; cd ../b; echo 22 > x; rm x); echo 333 > x"
    record = Record(tmp_path)
    assert Plain().run(Request(("/bin/sh", "-c", script), tmp_path, trace=record.feed)).succeeded
    assert record.effects.of(Kind.BYTES) == {"a/x": 2, "b/x": 3, "x": 4}
    assert record.effects.of(Kind.RENAMED) == {"a/y": 1}
    assert record.effects.of(Kind.REMOVED) == {"b/x": 1}


def test_calls_of_threads_and_processes_at_once_are_all_counted(tmp_path: Path) -> None:
    script = """
import os, threading
def work(k):
    f = os.open(f"t{k}", os.O_WRONLY | os.O_CREAT)
    for _ in range(200): os.write(f, b"x" * 10)
    os.fsync(f)
threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
for t in threads: t.start()
for k in (4, 5):
    if os.fork() == 0:
        work(k); os._exit(0)
for t in threads: t.join()
os.wait(); os.wait()
"""
    record = Record(tmp_path)
    assert Plain().run(Request(("/usr/bin/env", "python3", "-B", "-c", script), tmp_path, trace=record.feed)).succeeded
    assert record.effects.of(Kind.BYTES) == {f"t{k}": 2000 for k in range(6)}
    assert record.effects.of(Kind.SYNCED) == {f"t{k}": 1 for k in range(6)}
    assert record.effects.of(Kind.PROCESS) == {"": 2}


@pytest.fixture(scope="module")
def text_of_record(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, Path]:
    folder = tmp_path_factory.mktemp("record")
    pieces: list[bytes] = []
    script = "echo a > x; cp x y; mv y z; (echo b >> z) & wait; cat x z"
    assert Plain().run(Request(("/bin/sh", "-c", script), folder, trace=pieces.append)).succeeded
    return b"".join(pieces), folder


@given(cuts=st.lists(st.integers(0, 20_000), max_size=30))
def test_a_record_may_come_in_any_pieces(text_of_record: tuple[bytes, Path], cuts: list[int]) -> None:
    text, folder = text_of_record
    whole, pieces = Record(folder), Record(folder)
    whole.feed(text)
    ends = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    for begin, end in pairwise(ends):
        pieces.feed(text[begin:end])
    assert pieces.effects == whole.effects
    assert whole.effects.whole


@given(data=st.data())
def test_a_damaged_record_is_read_without_an_error(text_of_record: tuple[bytes, Path], data: st.DataObject) -> None:
    text, folder = text_of_record
    damaged = bytearray(text)
    for at in data.draw(st.lists(st.integers(0, len(text) - 1), max_size=60)):
        damaged[at] = data.draw(st.integers(0, 255))
    record = Record(folder)
    record.feed(bytes(damaged[: data.draw(st.integers(0, len(damaged)))]))
    assert record.effects.written >= 0


@given(st.binary(max_size=400))
def test_no_bytes_are_an_error(data: bytes) -> None:
    record = Record(Path("/"))
    record.feed(b"pipe:[1]\n1 " + data + b"\n2 write(" + data + b" = 5\n")


def test_a_record_that_does_not_come_to_its_end_is_not_whole(text_of_record: tuple[bytes, Path]) -> None:
    text, folder = text_of_record
    first = text.split(b"\n")[1].split()[0]
    end = text.rindex(first + b" ")
    for cut in (0, len(text) // 2, end, len(text) - 2):
        record = Record(folder)
        record.feed(text[:cut])
        assert not record.effects.whole, cut


# -- the comparison --------------------------------------------------------------------------------------------


def effects(**counts: dict[str, int]) -> Effects:
    return Effects(
        {(Kind[kind], subject): count for kind, found in counts.items() for subject, count in found.items()},
        True,
        "",
        0,
    )


def test_only_what_the_original_repeats_is_asked() -> None:
    first, second = effects(SYNCED={"a": 3, "b": 2}), effects(SYNCED={"a": 3, "b": 5})
    told = compare_effects(first, second, effects(), {"a": (1, 1), "b": (1, 1)})
    assert told.durability == ("a is synced to disk never instead of 3 times",)
    assert told.unexamined == ("synced: b",)


def test_a_file_that_is_read_again_and_gone_in_the_end_is_scratch() -> None:
    mine = effects(BYTES={"spill": 100, "step": 100}, REWRITTEN={"spill": 4, "step": 4}, READ={"spill": 4})
    told = compare_effects(mine, mine, effects(), {})
    assert [each for each in told.durability if "spill" in each] == []
    assert len([each for each in told.durability if "step" in each]) == 2


def test_fewer_calls_for_the_same_bytes_are_fine() -> None:
    mine = effects(BYTES={"log": 100}, CALLS={"log": 50})
    told = compare_effects(mine, mine, effects(BYTES={"log": 100}, CALLS={"log": 1}), {"log": (100, 100)})
    assert told.batched == ("log is written in one call instead of 50",)
    assert (told.lost, told.added, told.durability) == ((), (), ())


def test_numbers_of_another_length_are_no_writing_less_often() -> None:
    mine, theirs = effects(BYTES={"out": 1000}), effects(BYTES={"out": 990})
    assert compare_effects(mine, mine, theirs, {"out": (1000, 990)}).durability == ()
    assert compare_effects(mine, mine, theirs, {"out": (100, 100)}).durability != ()


def test_an_original_that_does_not_end_while_it_is_watched_is_no_measure() -> None:
    late: Any = SimpleNamespace(completed=SimpleNamespace(status="timed-out"))
    reference: Any = SimpleNamespace(
        declared=(Run("run", "./app"),),
        twice=lambda case: (late, late),
        timed=lambda: None,
        runner=SimpleNamespace(traces=True),
    )
    changed: Any = None
    found = gate.examine(reference, changed)
    assert found.passed
    assert found.figures["unexamined"] == ["run: the original does not finish under strace"]


@pytest.mark.parametrize(
    ("theirs", "field"),
    [
        (effects(CHILD={"sort a": 1}), "lost"),
        (effects(CHILD={"sort a": 2, "sort b": 1}), "added"),
        (effects(CHILD={"sort a": 2}, PEER={"db:1": 1}), "added"),
        (effects(CHILD={"sort a": 2}, PROCESS={"": 1}), "added"),
        (effects(CHILD={"sort a": 2}, READ={"answers.txt": 1}), "added"),
        (effects(CHILD={"sort a": 2}, READ={"spill": 1}, BYTES={"spill": 9}), ""),
        (effects(CHILD={"sort a": 2}), ""),
    ],
)
def test_children_peers_and_processes_are_the_same(theirs: Effects, field: str) -> None:
    mine = effects(CHILD={"sort a": 2})
    told = compare_effects(mine, mine, theirs, {})
    assert {name: bool(getattr(told, name)) for name in ("lost", "added", "durability")} == {
        name: name == field for name in ("lost", "added", "durability")
    }


# -- the gate --------------------------------------------------------------------------------------------------

#: Changes of RESTART: old text, new text, the verdict (None: it passes), what is told.
CHANGES = {
    "the same": ("sum 1.5", "sum 1.5", None, "has the same effects"),
    "each 255th restart": ("put(\"restart.tmp\"", "if (i == 19) put(\"restart.tmp\"", None, "rewritten once instead of 20 times"),
    "no last restart": ("for (int i = 0; i < 20", "for (int i = 0; i < 19", Verdict.EFFECTS_LOST, "journal"),
    "no sync": ("O_TRUNC, 1)", "O_TRUNC, 0)", None, "restart.tmp is synced to disk never instead of 20 times"),
    "in place": ("rename(\"restart.tmp\", \"restart\");", "put(\"restart\", text, O_TRUNC, 1); unlink(\"restart.tmp\");", None, "renaming"),
    "no journal": ("put(\"journal\", text, O_APPEND, 0);", "", Verdict.EFFECTS_LOST, "does not leave journal"),
    "short journal": ("put(\"journal\", text,", "put(\"journal\", text + 1,", Verdict.EFFECTS_LOST, "journal line 1"),
    "no copy": ("system(\"cp restart kept\");", "", Verdict.EFFECTS_LOST, "kept"),
    "copy by itself": ("system(\"cp restart kept\");", "put(\"kept\", \"step 19\\n\", O_TRUNC, 0);", Verdict.EFFECTS_LOST, "cp"),
    "link for copy": ("system(\"cp restart kept\");", "symlink(\"restart\", \"kept\");", Verdict.EFFECTS_LOST, "is a link"),
    "no mode": ("chmod(\"kept\", 0600);", "", Verdict.EFFECTS_LOST, "mode 644 instead of 600"),
    "tmp left": ("rename(\"restart.tmp\", \"restart\");", "link(\"restart.tmp\", \"restart\");", Verdict.EFFECTS_LOST, ""),
    "another name": ("put(\"journal\"", "put(\"Journal\"", Verdict.EFFECTS_LOST, "does not leave journal"),
    "a child for it": ("system(\"cp restart kept\");", "system(\"cp restart kept\"); if (!fork()) _exit(0); wait(0);", Verdict.CHEATED, "processes"),
    "another child": ("system(\"cp restart kept\");", "system(\"cp restart kept\"); system(\"true\");", Verdict.CHEATED, "true"),
    "looks for a tracer": (
        "int main(void) {", "int main(void) { int s = open(\"/proc/self/status\", O_RDONLY); close(s);", Verdict.CHEATED, "/proc/self/status",
    ),
    "looks behind a link": (
        "int main(void) {", "int main(void) { symlink(\"/proc/self/status\", \"x\"); close(open(\"x\", O_RDONLY)); unlink(\"x\");",
        Verdict.CHEATED, "/proc/self/status",
    ),
    "asks whose child it is": (
        "int main(void) {",
        "int main(void) { char name[64], to[64]; sprintf(name, \"/proc/%d/exe\", getppid()); readlink(name, to, 63);",
        Verdict.CHEATED, "/proc/#/exe",
    ),
    "traces": (
        "int main(void) {", "#include <sys/ptrace.h>\nint main(void) { ptrace(PTRACE_TRACEME, 0, 0, 0);", Verdict.CHEATED, "ptrace",
    ),
    "ends its tracer": ("int main(void) {", "int main(void) { kill(getppid(), 9);", Verdict.CHEATED, ""),
    "into the record": (
        "int main(void) {",
        """int main(void) {
  for (int i = 3; i < 1000; i++) {
    char name[64], to[64] = {0};
    sprintf(name, "/proc/self/fd/%d", i);
    if (readlink(name, to, 63) > 0 && !strncmp(to, "pipe", 4)) write(i, "1 fsync(3</x>) = 0\\n", 20);
  }""",
        Verdict.CHEATED, "the record",
    ),
    "writes through mmap": (
        "put(\"journal\", text, O_APPEND, 0);",
        """{
      int f = open("journal", O_RDWR | O_CREAT, 0644);
      struct stat s;
      fstat(f, &s);
      size_t n = strlen(text);
      ftruncate(f, s.st_size + n);
      char *m = mmap(0, s.st_size + n, PROT_READ | PROT_WRITE, MAP_SHARED, f, 0);
      memcpy(m + s.st_size, i == 3 ? "stop 3\\n" : text, n);
      munmap(m, s.st_size + n);
      close(f);
    }""",
        Verdict.EFFECTS_LOST, "journal line 4",
    ),
    "restored times": (
        "printf(\"sum",
        "{ put(\"journal\", \"STEP 0\\n\", 0, 0); struct timespec t[2] = {{1}, {1}}; utimensat(AT_FDCWD, \"journal\", t, 0); } printf(\"sum",
        Verdict.EFFECTS_LOST, "journal line 1",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_the_gate_tells_what_is_left_undone(restart: Reference, name: str) -> None:
    old, new, verdict, told = CHANGES[name]
    found = judged(restart, edited(old, new))
    assert (found.passed, found.verdict) == (verdict is None, verdict), found.statement
    assert told in found.statement
    given_up = gate.durability([found])
    assert bool(given_up) == (verdict is None and name != "the same"), found.statement


def test_a_program_that_behaves_while_it_is_watched_gains_nothing(restart: Reference) -> None:
    """The timed run tells by the bytes that the kernel counted."""
    honest = restart.runner.run(restart.built, Case(restart.runner.project.run)).completed.written
    assert honest is not None
    assert writes_less(honest, honest, 1.0) == ""
    assert writes_less(honest * 1000, honest * 900, 1.0) != ""
    assert writes_less(honest * 100, honest * 52, 0.5) == ""
    assert writes_less(None, 1, 1.0) == writes_less(1, None, 1.0) == ""


def test_without_strace_the_left_files_are_compared_and_that_is_said(tmp_path: Path) -> None:
    original = reference(tmp_path, sandbox=Unguarded())
    assert not original.runner.traces
    same = judged(original, edited("O_TRUNC, 1)", "O_TRUNC, 0)"))
    assert same.passed
    assert gate.WITHOUT_STRACE in same.statement
    assert not judged(original, edited('chmod("kept", 0600);', "")).passed


def test_what_differs_each_time_is_not_asked(tmp_path: Path) -> None:
    text = edited(
        'printf("sum',
        '{ char name[64]; sprintf(name, "log.%d", getpid()); put(name, name, 0, 1); sprintf(name, "%d", getpid()); put("pid", name, 0, 0); } printf("sum',
    )
    original = reference(tmp_path, text)
    found = judged(original, text)
    assert found.passed, found.statement
    unexamined = found.figures["unexamined"]
    assert isinstance(unexamined, list)
    assert {"log.#", "pid"} <= set(unexamined)
    assert not judged(original, edited('put("journal", text, O_APPEND, 0);', "", text)).passed


# -- left files ------------------------------------------------------------------------------------------------


def left(folder: Path, name: str, *steps: tuple[str, bytes]) -> dict[str, object]:
    root = folder / name
    root.mkdir()
    (root / "old").write_bytes(b"old")
    before = state(root)
    for path, content in steps:
        (root / path).write_bytes(content)
    return left_files(root, before)  # type: ignore[return-value]


def test_left_text_is_compared_as_outputs_are(tmp_path: Path) -> None:
    check = Check(relative=1e-6, ignore=("^time",))
    mine = left(tmp_path, "a", ("out", b"x 1.00000001\ntime 3\n"), ("bin", b"\0\1"))
    close = left(tmp_path, "b", ("out", b"x 1.00000002\ntime 4\n"), ("bin", b"\0\1"))
    far = left(tmp_path, "c", ("out", b"x 1.10000001\ntime 4\n"), ("bin", b"\0\1"))
    other = left(tmp_path, "d", ("out", b"x 1.00000001\ntime 3\n"), ("bin", b"\0\2"))
    gone = left(tmp_path, "e", ("out", b"x 1.00000001\n"))
    assert missing_or_other(mine, close, check, ()) == ""  # type: ignore[arg-type]
    assert "out line 1" in missing_or_other(mine, far, check, ())  # type: ignore[arg-type]
    assert "bin differs" in missing_or_other(mine, other, check, ())  # type: ignore[arg-type]
    assert "does not leave bin" in missing_or_other(mine, gone, check, ())  # type: ignore[arg-type]
    assert missing_or_other(mine, gone, check, ("bin", "out")) == ""  # type: ignore[arg-type]
    assert "leaves files that the original does not: bin" in missing_or_other(gone, mine, check, ())  # type: ignore[arg-type]
    assert unsteady(mine, other) == {"bin"}  # type: ignore[arg-type]


def test_a_file_that_was_there_and_is_removed_counts(tmp_path: Path) -> None:
    kept, removed = left(tmp_path, "a"), left(tmp_path, "b")
    root = tmp_path / "c"
    root.mkdir()
    (root / "old").write_bytes(b"old")
    before = state(root)
    (root / "old").unlink()
    gone = left_files(root, before)
    assert kept == removed == {}
    assert missing_or_other(kept, gone, Check(), ()) == "it removes old"  # type: ignore[arg-type]
    assert missing_or_other(gone, kept, Check(), ()) == "it does not remove old"  # type: ignore[arg-type]


def test_a_changed_file_is_seen_though_size_and_time_are_as_before(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"12345")
    before, known = state(tmp_path), path.stat()
    path.write_bytes(b"54321")
    os.utime(path, ns=(known.st_atime_ns, known.st_mtime_ns))
    assert list(left_files(tmp_path, before)) == ["a"]


def test_a_link_leads_where_the_originals_does(tmp_path: Path) -> None:
    found = []
    for target in ("a", "b"):
        root = tmp_path / target
        root.mkdir()
        before = state(root)
        os.symlink(target, root / "latest")
        found.append(left_files(root, before))
    assert missing_or_other(*found, Check(), ()) == "latest links to b instead of a"


def test_sockets_and_pipes_are_left_alone(tmp_path: Path) -> None:
    before = state(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(tmp_path / "socket"))
        assert left_files(tmp_path, before) == {}


# -- the whole -------------------------------------------------------------------------------------------------

SLOW = (
    HEAD
    + """
int main(void) {
  double s = 0;
  for (int i = 0; i < 100; i++) {
    for (int k = 1; k < 20000; k++) s += 1.0 / k;
    put("state", "done\\n", O_TRUNC, 1);
  }
  printf("sum %.3f\\n", s);
  return 0;
}
"""
)


def session(folder: Path, changed: str, **more: object):  # type: ignore[no-untyped-def]
    from chathpc.fix.loop import Budget, fix
    from tests.fix.parts import Scripted, candidate

    def profiler(runner: Runner, built: object, where: Path) -> Path:
        slow = "1e9" if "O_TRUNC, 1" in (built.folder / "app.c").read_text() else ""  # type: ignore[attr-defined]
        where.mkdir(parents=True, exist_ok=True)
        (where / "profile.txt").write_text(f"main;put;fsync {9000 if slow else 10}\nmain;pow 1000\n")
        return where / "profile.txt"

    known = replace(project(folder, SLOW), **more)  # type: ignore[arg-type]
    return fix(
        known, [Scripted([candidate("change", {"app.c": changed})])], sandbox=Plain(), work=folder / "work",
        profiler=profiler, budget=Budget(rounds=1, timing=8), baselines=False, seed=1,
    )  # fmt: skip


def test_what_gives_up_durability_is_never_improved_unless_that_is_allowed(tmp_path: Path) -> None:
    from chathpc.fix.result import exit_code, report
    from chathpc.reports import fix_renderers
    from chathpc.reports.style import Style

    less = edited("O_TRUNC, 1)", "O_TRUNC, 0)", SLOW)
    found = session(tmp_path, less)
    assert [each.verdict for each in found.attempts] == [Verdict.IMPROVED_IF], found.attempts[0].gates[-1].statement
    told = report(found)
    assert (told.verdict, exit_code(found)) == ("improved-if", 6)
    assert told.given_up == ["state is synced to disk never instead of 100 times"]
    assert told.headline.index("synced to disk") < told.headline.index("faster")
    for render in fix_renderers().values():
        assert "improved" in render(told, Style(width=200)).lower()
    # Its user says so: nothing is tried again, and it counts.
    again = session(tmp_path, less, allow=("durability",))
    assert (report(again).verdict, exit_code(again)) == ("improved", 0)
    assert "synced to disk" in report(again).headline


def test_a_change_that_gives_something_up_is_not_applied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from types import SimpleNamespace

    from chathpc.commands import fix as command

    found = SimpleNamespace(conditional=True, accepted=("one",))
    with pytest.raises(UsageError, match="trades something away"):
        command._may_apply(found, applied=True, branch=None)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="trades something away"):
        command._may_apply(found, applied=False, branch="faster")  # type: ignore[arg-type]
    command._may_apply(found, applied=False, branch=None)  # type: ignore[arg-type]
