from __future__ import annotations

from pathlib import Path

import pytest

import chathpc
from tests.diagnosis.parts import (
    causes,
    diagnosed,
    finding,
    function,
    libc,
    main,
    mpi,
    ranks,
    statements,
    sure,
    thread,
    wall,
)
from tests.profile.build import build, line

REST = function("rest", line("app.c:40", time=5.0), at="app.c:39")


def output(*calls: object):
    return function("sink", line("app.c:25", *calls), at="app.c:24")


def test_file_operations_without_a_count_of_bytes_bound_the_program() -> None:
    diagnosis = diagnosed(wall(build(main(output(libc("__GI___libc_write", time=4.0), libc("read", time=1.0)), REST))))
    found = finding(diagnosis, "io-bound")
    assert (found.where.function, found.where.short, found.share, found.seconds) == ("sink", "app.c:25", 0.5, 5.0)
    assert found.summary == "sink spends 50.0 % of the time in file operations (write)."
    assert found.against == ()
    assert statements(diagnosis, "io-bound") == [
        "File operations take 5.00 s of 10.0 s (50.0 %): write 4.00 s.",
        "Calls from sink take 5.00 s of the 5.00 s of file operations (100 %).",
    ]


def test_cpu_time_does_not_see_the_waiting_for_the_device() -> None:
    found = finding(diagnosed(build(main(output(libc("write", time=5.0)), REST))), "io-bound")
    assert len(found.against) == 1
    assert found.confidence == sure(2, against=1)


def test_time_below_a_buffered_call_is_named_by_what_it_does() -> None:
    nested = libc("_IO_fwrite", libc("_IO_new_file_write", libc("write", time=4.0)), time=1.0)
    diagnosis = diagnosed(build(main(output(nested), REST)))
    assert statements(diagnosis, "io-bound")[0].endswith(": write 4.00 s.")


def test_going_to_another_place_before_each_piece_makes_small_requests() -> None:
    seek = libc("__GI_fseek", libc("_IO_new_file_seekoff", libc("read", time=3.5)), time=0.5)
    diagnosis = diagnosed(build(main(output(seek, libc("_IO_fread", libc("read", time=1.0))), REST)))
    found = finding(diagnosis, "io-small-requests")
    assert found.summary == "sink goes to another place of a file for each small piece: 50.0 % of the time."
    assert statements(diagnosis, "io-small-requests")[2].startswith(
        "Going to another place (fseek) takes 4.00 s of the 5.00 s of file operations (80.0 %)"
    )
    assert "mmap" in found.advice[0]
    assert "io-bound" not in causes(build(main(output(seek), REST)))


def test_flushing_for_each_piece_that_is_gone_to_is_told_as_what_it_comes_from() -> None:
    seek = libc("fseek", libc("fsync", time=3.0), time=0.5)
    diagnosis = diagnosed(build(main(output(seek, libc("read", time=1.5)), REST)))
    found = finding(diagnosis, "io-small-requests")
    assert found.summary == "sink goes to another place of a file for each small piece: 50.0 % of the time."
    assert statements(diagnosis, "io-small-requests")[-1].startswith("Flushing data to the device (fsync) takes 3.00 s")


def test_going_back_once_is_no_such_request() -> None:
    rewound = libc("rewind", time=0.1)
    assert "io-bound" in causes(build(main(output(rewound, libc("read", time=4.9)), REST)))


def test_forcing_data_to_the_device_is_said_by_name() -> None:
    calls = [
        libc("write", time=1.6),
        libc("fsync", time=1.5),
        libc("__GI_fdatasync", time=1.4),
        libc("fopen", time=0.5),
    ]
    diagnosis = diagnosed(build(main(output(*calls), REST)))
    found = finding(diagnosis, "io-bound")
    assert found.summary == "sink repeatedly flushes data to the device: fsync has 29.0 % of the time."
    assert (
        statements(diagnosis, "io-bound")[-1]
        == "Flushing data to the device (fsync) takes 2.90 s of the 5.00 s of file operations (58.0 %)."
    )


@pytest.mark.parametrize(
    ("volume", "cause", "words"),
    [
        (4e8, "io-small-requests", "sink moves data in small pieces: 80.0 MB per second, 50.0 % of the time."),
        (4e9, "io-small-requests", "sink makes many small requests, mostly write: 50.0 % of the time."),
        (4e10, "io-bound", "sink spends 50.0 % of the time in file operations (write)."),
    ],
)
def test_the_rate_tells_small_requests_from_much_data(volume: float, cause: str, words: str) -> None:
    profile = build(main(output(libc("write", time=5.0, values={"io.write.bytes": volume})), REST))
    diagnosis = diagnosed(profile)
    assert finding(diagnosis, cause).summary == words
    assert statements(diagnosis, cause)[-1].startswith("The throughput of file operations called from sink is")


def test_bytes_read_and_written_count_together() -> None:
    calls = [
        libc("read", time=4.0, values={"io.read.bytes": 3e8}),
        libc("write", time=1.0, values={"io.write.bytes": 1e8}),
    ]
    diagnosis = diagnosed(build(main(output(*calls), REST)))
    assert (
        statements(diagnosis, "io-small-requests")[-1]
        == "The throughput of file operations called from sink is 80.0 MB a second (400 MB in 5.00 s)."
    )
    alone = diagnosed(build(main(output(calls[0]), REST)))
    assert statements(alone, "io-small-requests")[-1].endswith("(300 MB in 4.00 s).")


def test_a_function_moves_its_own_bytes_in_its_own_time() -> None:
    """sink writes 40 MB in 4 s; what verify reads in 1 s is another function's."""
    written = output(libc("write", time=4.0, values={"io.write.bytes": 4e7}))
    read = function("verify", line("app.c:60", libc("read", time=1.0, values={"io.read.bytes": 4e8})), at="app.c:59")
    diagnosis = diagnosed(build(main(written, read, REST)))
    assert finding(diagnosis, "io-small-requests").summary.startswith(
        "sink moves data in small pieces: 10.0 MB per second, 40.0 % of the time"
    )
    assert statements(diagnosis, "io-small-requests")[-1].endswith("is 10.0 MB a second (40.0 MB in 4.00 s).")


def test_bytes_say_nothing_where_little_of_the_time_transfers_them() -> None:
    calls = [libc("open", time=4.0), libc("write", time=1.0, values={"io.write.bytes": 1e6})]
    found = finding(diagnosed(build(main(output(*calls), REST))), "io-bound")
    assert found.summary == "sink spends 50.0 % of the time in file operations (open)."


def test_parallel_input_and_output_is_file_operations_too() -> None:
    found = finding(diagnosed(build(main(output(mpi("MPI_File_write_all", time=5.0)), REST))), "io-bound")
    assert found.share == 0.5


def test_less_than_a_tenth_or_a_thread_of_nobody_known_is_no_finding() -> None:
    assert causes(build(main(output(libc("write", time=0.5)), REST))) == ["hot-compute"]
    assert "io-bound" not in causes(build(main(REST), thread(libc("write", time=5.0))))


def test_the_slowest_rank_decides_and_what_it_takes_longer_is_imbalance() -> None:
    """Rank 0 of 16 writes for 8 of 10 s, in the mean 5 % of the run; the others wait in a barrier."""
    writes, waits = ((8.0, *[0.0] * 15), (0.0, *[8.0] * 15))
    tree = main(
        output(libc("write", time=writes)),
        function("rest", line("app.c:40", time=(2.0,) * 16), at="app.c:39"),
        function("end", line("app.c:50", mpi("MPI_Barrier", time=waits)), at="app.c:49"),
    )
    diagnosis = diagnosed(wall(build(tree, locations=ranks(16))))
    found = finding(diagnosis, "io-imbalance")
    assert found.share == pytest.approx(0.8 - 0.05)
    assert found.summary == "Rank 0 spends 80.0 % of the run in file operations, where the mean of 16 ranks is 5.00 %."
    assert statements(diagnosis, "io-imbalance") == [
        "Rank 0, in file operations, takes 8.00 s, a rank on average 500 ms (16.0 times as much)."
    ]
    assert finding(diagnosis, "io-bound").share == pytest.approx(0.8)
    assert (
        finding(diagnosis, "io-bound").summary
        == "sink spends 80.0 % of the run on the slowest rank in file operations (write)."
    )
    assert diagnosis.findings[0].cause == "io-imbalance"


def test_ranks_that_write_alike_are_bound_by_their_files_and_not_uneven() -> None:
    tree = main(
        output(libc("write", time=(5.0, 6.0, 5.5, 4.5))),
        function("rest", line("app.c:40", time=(5.0, 4.0, 4.5, 5.5)), at="app.c:39"),
    )
    profile = wall(build(tree, locations=ranks(4)))
    assert "io-imbalance" not in causes(profile)
    assert finding(diagnosed(profile), "io-bound").share == pytest.approx(0.6)


@pytest.mark.parametrize(
    ("stacks", "place", "name"),
    [
        ("main;save;write 500\nmain;save;fsync 300\nmain;step 200", "save", "write"),
        (
            "app;save;std::ostream::flush;__write;entry_SYSCALL_64_after_hwframe;do_syscall_64;ksys_write;vfs_write;ext4_write 500\n"
            "app;save;fsync;entry_SYSCALL_64_after_hwframe;do_syscall_64;__x64_sys_fsync;jbd2_log_wait_commit;schedule 300\n"
            "app;step 200",
            "save", "write",
        ),
        ("App.save;java/io/FileOutputStream.writeBytes;write 500\nApp.save;sun/nio/ch/FileDispatcherImpl.force0;fdatasync 300\nApp.run 200",
         "App.save", "write"),
        ("main.save;os.(*File).Write;internal/poll.(*FD).Write;syscall.write;syscall.Syscall 500\n"
         "main.save;os.(*File).Sync;internal/poll.(*FD).Fsync;syscall.Fsync 300\nmain.calc 200", "main.save", "os.(*File).Write"),
        ("app::save;<std::fs::File as std::io::Write>::write_all;write 500\napp::save;std::fs::File::sync_all;fsync 300\napp::calc 200",
         "app::save", "write"),
        ("python;<module> (a.py:3);save (a.py:10);_io.TextIOWrapper.write 500\npython;<module> (a.py:3);save (a.py:10);os.fsync 300\n"
         "python;<module> (a.py:3);calc (a.py:20) 200",
         "save", "io.TextIOWrapper.write"),
    ],
)  # fmt: skip
def test_collapsed_stacks_that_end_in_files_are_told_as_input_and_output(
    tmp_path: Path, stacks: str, place: str, name: str
) -> None:
    (tmp_path / "a.folded").write_text(stacks + "\n")
    profile = chathpc.load(tmp_path / "a.folded")
    found = finding(diagnosed(profile), "io-bound")
    assert (found.where.function, found.share) == (place, pytest.approx(0.8))
    assert f"({name})" in found.summary or "fsync" in found.summary
    assert causes(profile)[0] == "io-bound"


@pytest.mark.parametrize(
    "stacks",
    [
        "main;write;encode 800\nmain;step 200",  # a program's own function, which calls others
        "main;Table::write 800\nmain;step 200",
        "main;write (table.js:4) 800\nmain;step (app.js:9) 200",
        "main.serve;net.(*conn).Write;net.(*netFD).Write;internal/poll.(*FD).Write;syscall.write 800\nmain.step 200",
    ],
)
def test_functions_that_only_sound_like_files_are_none(tmp_path: Path, stacks: str) -> None:
    (tmp_path / "a.folded").write_text(stacks + "\n")
    assert not {"io-bound", "io-small-requests"} & set(causes(chathpc.load(tmp_path / "a.folded")))


@pytest.mark.parametrize(("formatting", "writing", "title"), [(4.0, 1.0, True), (1.0, 4.0, False)])
def test_numbers_turned_into_text_are_told_from_files(formatting: float, writing: float, title: bool) -> None:
    """fprintf to a buffer that is written now and then: a converter at work, and no file that is waited for."""
    printed = libc("fprintf", libc("__vfprintf_internal", libc("write", time=writing), time=formatting))
    found = finding(diagnosed(wall(build(main(output(printed), REST)))), "io-bound")
    assert (found.title == "Conversion of numbers to text") is title
    assert ("converting numbers to text and back (vfprintf_internal)" in found.summary) is title
    assert any("setvbuf" in each for each in found.advice) is not title
