"""Output in larger pieces: ends of lines without a flush, a buffer for small requests."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from chathpc.fix.gates.text import code
from chathpc.fix.recipes.analysis.edits import Edit, line_start
from chathpc.fix.recipes.analysis.loops import around
from chathpc.fix.recipes.analysis.program import Spot
from chathpc.fix.recipes.analysis.syntax import children, field, line_of, text_of
from chathpc.fix.recipes.recipe import Change, Context

if TYPE_CHECKING:
    from tree_sitter import Node


_INCLUDED = re.compile(r"^[ \t]*#[ \t]*include[^\n]*", re.MULTILINE)
#: Ways to end without writing what is in the buffers, or to look at a file or share it from outside.
LOST = re.compile(
    rb"\b(?:fileno|v?fork|fsync|fdatasync|system|popen|_exit|_Exit|quick_exit|abort|terminate|raise|kill|exec[lv]\w*|sync_with_stdio)\b"
)
#: Ways to read what was written.
_READING = re.compile(rb"\b(?:ifstream|fstream\s+\w+|fopen|freopen|open)\s*[({\w]")


def _is_console(stream: Node) -> bool:
    return text_of(stream).rsplit("::", 1)[-1] == "cout"


def plain_line_ends(context: Context, spot: Spot) -> Iterator[Change]:
    r"""`std::endl` in output to a file or to standard output becomes `'\\n'`: the stream writes when its buffer is full or it is closed."""
    edits, first = [], None
    for node in spot.procedure.all("qualified_identifier", "identifier"):
        if text_of(node) not in ("std::endl", "endl") or node.parent is None or node.parent.type != "binary_expression":
            continue
        if text_of(field(node.parent, "operator")) != "<<" or field(node.parent, "right") != node:
            continue
        stream: Node | None = node.parent
        while stream is not None and stream.type == "binary_expression":
            stream = field(stream, "left")
        if stream is None or text_of(stream).rsplit("::", 1)[-1] in ("cerr", "clog"):
            continue
        if LOST.search(spot.source.text) or (not _is_console(stream) and _READING.search(spot.source.text)):
            continue
        edits.append(Edit(node.start_byte, node.end_byte, b"'\\n'"))
        first = first or node
    if first is not None and (spot.cause.startswith("io-") or any(True for _ in around(first, spot.procedure))):
        yield Change(
            {spot.source.path: tuple(edits)},
            line_of(first),
            "End lines with '\\n' instead of std::endl, which flushes each time",
        )
    del context


def buffered_writes(context: Context, spot: Spot) -> Iterator[Change]:
    """`write(fd, …, few bytes)` goes through a buffer of 64 KiB, which is written before the file is looked at or closed.

    All of the program's uses of file descriptors must be ones that are known: open, write, close; anything else that may
    look at the file (read, lseek, fsync, dup, fork, mmap …) refuses.
    """
    program, text = context.program, spot.source.text
    if len(program.sources) != 1 or spot.source.is_fortran:
        return
    calls = [each for each in spot.procedure.all("call_expression") if text_of(field(each, "function")) == "write"]
    everywhere = [each for _, each in program.calls.get("write", [])]
    if not calls or re.search(
        r"\b(?:read|lseek|fsync|fdatasync|dup2?|fork|mmap|pread|pwrite|writev|ftruncate|pthread_create|fcntl|select|poll|socket|pipe|thread|omp|_exit|execv\w*|abort|signal|sigaction|dprintf|fdopen)\b\s*[\(<:{]?",
        _INCLUDED.sub("", code(spot.source.path, text.decode("utf-8", "replace")).plain),
    ):
        return
    closes = [each for _, each in program.calls.get("close", [])]
    if (
        not closes
        or any(not _is_small(each) for each in calls)
        or any(
            text_of(next(iter(children(field(each, "arguments"))), None))
            in ("1", "2", "STDOUT_FILENO", "STDERR_FILENO")
            for each in everywhere
        )
    ):
        return
    if len(program.calls.get("open", [])) != 1 or "chathpc_write" in text.decode("utf-8", "replace"):
        return  # one file at a time is buffered
    first_function = min(one.node.start_byte for one in spot.source.procedures)
    edits = [Edit(line_start(text, first_function), line_start(text, first_function), _HELPER)]
    for each in everywhere:
        name = field(each, "function")
        if name is not None:
            edits.append(Edit(name.start_byte, name.end_byte, b"buffered_write"))
    for each in closes:
        name = field(each, "function")
        if name is not None:
            edits.append(Edit(name.start_byte, name.end_byte, b"buffered_close"))
    yield Change(
        {spot.source.path: tuple(edits)},
        line_of(calls[0]),
        "Collect small records in a 64 KiB buffer that is written when full and when the file is closed",
    )


def _is_small(call: Node) -> bool:
    listed = children(field(call, "arguments"))
    return len(listed) == 3 and (
        listed[2].type in ("sizeof_expression", "identifier", "cast_expression")
        or text_of(field(listed[2], "function")) == "strlen"
        or (text_of(listed[2]).isdigit() and int(text_of(listed[2])) <= 4096)
    )


_HELPER = b"""static char write_buffer[65536];
static size_t write_used;

static int flush_writes(int fd) {
  for (size_t at = 0; at < write_used;) {
    ssize_t n = write(fd, write_buffer + at, write_used - at);
    if (n < 0) return -1;
    at += (size_t)n;
  }
  write_used = 0;
  return 0;
}

static ssize_t buffered_write(int fd, const void *from, size_t size) {
  if (write_used + size > sizeof write_buffer && flush_writes(fd) != 0) return -1;
  if (size > sizeof write_buffer) return write(fd, from, size);
  for (size_t k = 0; k < size; k++) write_buffer[write_used + k] = ((const char *)from)[k];
  write_used += size;
  return (ssize_t)size;
}

static int buffered_close(int fd) {
  int failed = flush_writes(fd);
  return close(fd) != 0 || failed ? -1 : 0;
}

"""
