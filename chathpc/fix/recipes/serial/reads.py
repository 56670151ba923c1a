"""Small reads of a file taken from blocks, which stay where they are as long as the program seeks within them (C and C++)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from chathpc.diagnosis.source.layout import elements, size_of, type_size
from chathpc.fix.recipes.analysis.descriptors import TAKING, Descriptor, called, descriptor
from chathpc.fix.recipes.analysis.edits import Edit
from chathpc.fix.recipes.analysis.file_order import is_written_meanwhile
from chathpc.fix.recipes.analysis.program import Procedure, Program, Spot
from chathpc.fix.recipes.analysis.syntax import children, code_and_macros, code_of, field, line_of, nodes, text_of
from chathpc.fix.recipes.analysis.types import declared, type_of
from chathpc.fix.recipes.recipe import Change, Context
from chathpc.fix.recipes.serial.placing import including, place_of_functions

if TYPE_CHECKING:
    from tree_sitter import Node

#: A read of more bytes at once is no small one. A system call costs some 100 ns to 1 µs, copying 512 bytes some 10 ns.
_SMALL = 512
#: Ways to use or share a descriptor, or to change a file, that are not followed.
_UNKNOWN = re.compile(
    rb"\b(?:dup[23]?|fcntl|mmap\w*|v?fork|clone|popen|system|exec[lv]\w*|posix_spawn\w*|sendfile\w*|splice|copy_file_range|sendmsg"
    rb"|(?:p?readv|pread|pwritev?)\w*|aio_\w+|io_\w+|ioctl|f?truncate\w*|sigaction|signal|select|p?poll|syscall|flock|lockf"
    rb"|lseek64|open64|openat\w*|creat\w*|close_range|closefrom|dlopen)\s*\("
    rb"|\b(?:w?ofstream|w?fstream|w?filebuf|asm|__asm__|co_await)\b"
)
_OURS = re.compile(rb"\b(?:read_blocks?|block_read|block_seek|block_close|block_at)\b")
_NAMED = re.compile(rb"\b(?:read|lseek|close|open)\b")
_INCLUDED = re.compile(rb"#[ \t]*include[ \t]*\"[^\"\n]*\.c(?:c|pp|xx)?\"")
_NEEDED = (b"<errno.h>", b"<string.h>", b"<sys/types.h>", b"<unistd.h>")


def blockwise(context: Context, spot: Spot) -> Iterator[Change]:
    """Reads of a few bytes, and all others of the same descriptor, take them from a block of 64 KiB that is kept for it.

    Within the block `lseek` only moves on or back; elsewhere it is what it was. Pipes and terminals are read as before, which the
    program finds out when it runs.
    """
    program, source = context.program, spot.source
    if source.is_fortran or source.path.endswith((".h", ".hh", ".hpp", ".hxx")) or not _is_simple(program):
        return  # each file that includes a header would have blocks of its own
    for call in spot.procedure.all("call_expression"):
        if called(call) != "read" or not _is_small(call, spot.procedure, program):
            continue
        found = descriptor(call, spot.procedure, program)
        if found is None or any(home.source is not source or home.is_broken for home, _ in found.uses):
            continue
        if _others_close(found, program) or is_written_meanwhile(found, program):
            continue
        edits = _edits(found, spot)
        if edits:
            done = "reads blocks of 64 KiB instead of a few bytes a call"
            yield Change({source.path: tuple(edits)}, line_of(call), done)
            return


def _is_simple(program: Program) -> bool:
    """True if one thread runs, and nothing is done with descriptors that is not followed."""
    if program.has_threads or program.has_unions or program.unread or len(program.named("main")) != 1:
        return False
    own = {
        *program.macros,
        *program.variables,
        *(name for one in program.procedures for name in (one.model.name, *one.declarations)),
    }
    if own & {"open", *TAKING}:
        return False
    for one in program.sources.values():
        code = code_and_macros(one.file.tree.root_node, one.text)
        if one.is_fortran or _UNKNOWN.search(code) or _OURS.search(one.text) or _INCLUDED.search(one.text):
            return False
        for body in nodes(one.file.tree.root_node, "preproc_arg"):
            if _NAMED.search(code_of(body.text or b"")):
                return False
    return True


def _is_small(call: Node, procedure: Procedure, program: Program) -> bool:
    """True for a read of some bytes whose number is known."""
    listed = children(field(call, "arguments"))
    size = _bytes(listed[2], procedure, program) if len(listed) == 3 else None
    return size is not None and 0 < size <= _SMALL


def _bytes(node: Node, procedure: Procedure, program: Program) -> int | None:
    unit = procedure.source.file.unit
    text = text_of(node)
    if node.type != "sizeof_expression":
        return int(text) if text.isdigit() else unit.constants.get(text)
    of = text.removeprefix("sizeof").strip()
    inner = of[1:-1].strip() if of.startswith("(") and of.endswith(")") else of
    one = declared(inner, procedure, program)
    if one is not None:
        count, size = elements(one, unit), size_of(one, unit)
        return None if one.pointers or count is None or size is None else count * size
    pointed = type_of(field(node, "value"), procedure, program) if inner.startswith("*") else None
    if pointed is not None:
        return type_size(pointed.name, unit) if pointed.depth == 0 else None
    return type_size(inner, unit)


def _others_close(found: Descriptor, program: Program) -> bool:
    """True if the descriptor may be closed by its number, as where all of them are."""
    ours = [call for _, call in found.uses]
    for home, call in program.calls.get("close", []):
        name = text_of(next(iter(children(field(call, "arguments"))), None))
        if call in ours or called(call) != "close":
            continue
        counted = any(text_of(field(each, "argument")) == name for each in home.all("update_expression"))
        if not re.match(r"[A-Za-z_]", name) or name.startswith("STD") or counted:
            return True
    return False


def _edits(found: Descriptor, spot: Spot) -> list[Edit]:
    """What the calls become, and what is put in front of the functions."""
    place = place_of_functions(spot.source)
    if place is None:
        return []
    edits = []
    used = set()
    for _, call in found.uses:
        name = field(call, "function")
        if name is not None:
            used.add(called(call))
            edits.append(Edit(name.start_byte, name.end_byte, _NAMES[called(call)]))
    helper = _HELPER + b"".join(text for name, text in _MORE.items() if name in used)
    edits.append(Edit(place, place, including(_NEEDED, spot.source.text) + helper))
    return edits


_NAMES = {"read": b"block_read", "lseek": b"block_seek", "close": b"block_close"}
_HELPER = b"""/* Small reads of files come from blocks, one for each descriptor. */
static struct read_block {
  int owner; /* descriptor + 1 */
  int plain; /* no file of which bytes may be read before they are asked for */
  size_t at, size;
  off_t end; /* the block's end in the file */
  unsigned char bytes[65536];
} read_blocks[8];

static void leave_block(struct read_block *b) {
  if (b->owner && !b->plain && b->at < b->size) lseek(b->owner - 1, b->end - (off_t)(b->size - b->at), SEEK_SET);
  b->end -= (off_t)(b->size - b->at);
  b->at = b->size = 0;
}

static struct read_block *block_of(int fd) {
  struct read_block *b = &read_blocks[(unsigned)fd % 8];
  if (fd >= 0 && b->owner != fd + 1) {
    int told = errno;
    leave_block(b);
    b->owner = fd + 1;
    b->end = lseek(fd, 0, SEEK_CUR);
    /* Others may read on from standard input. Pipes and terminals have no place, and devices and what the kernel tells no end. */
    b->plain = fd < 3 || b->end < 0 || lseek(fd, 0, SEEK_END) <= 0 || lseek(fd, b->end, SEEK_SET) != b->end;
    errno = told;
  }
  return fd < 0 || b->plain ? NULL : b;
}

static ssize_t block_read_more(int fd, void *to, size_t size) {
  struct read_block *b = block_of(fd);
  size_t done = 0;
  if (!b || size == 0) return read(fd, to, size);
  if (size >= sizeof b->bytes) {
    ssize_t got;
    leave_block(b);
    got = read(fd, to, size);
    if (got > 0) b->end += got;
    return got;
  }
  while (done < size) {
    size_t part = b->size - b->at;
    if (part == 0) {
      ssize_t got = read(fd, b->bytes, sizeof b->bytes);
      if (got < 0) b->at = b->size = 0;
      if (got <= 0) return done ? (ssize_t)done : got;
      b->at = 0;
      b->size = (size_t)got;
      b->end += got;
      continue;
    }
    if (part > size - done) part = size - done;
    memcpy((char *)to + done, b->bytes + b->at, part);
    b->at += part;
    done += part;
  }
  return (ssize_t)done;
}

static inline ssize_t block_read(int fd, void *to, size_t size) {
  struct read_block *b = &read_blocks[(unsigned)fd % 8];
  if (b->owner != fd + 1 || fd < 0 || b->size - b->at < size || size == 0) return block_read_more(fd, to, size);
  memcpy(to, b->bytes + b->at, size);
  b->at += size;
  return (ssize_t)size;
}

"""
_MORE = {
    "lseek": b"""static off_t block_seek(int fd, off_t offset, int whence) {
  struct read_block *b = block_of(fd);
  off_t place;
  if (!b) return lseek(fd, offset, whence);
  if (whence == SEEK_CUR && offset >= -(off_t)b->at && offset <= (off_t)(b->size - b->at)) {
    offset += b->end - (off_t)(b->size - b->at);
    whence = SEEK_SET;
  }
  if (whence == SEEK_SET && offset >= b->end - (off_t)b->size && offset <= b->end) {
    b->at = b->size - (size_t)(b->end - offset);
    return offset;
  }
  if (whence == SEEK_CUR) leave_block(b);
  place = lseek(fd, offset, whence);
  if (place >= 0) {
    b->at = b->size = 0;
    b->end = place;
  }
  return place;
}

""",
    "close": b"""static int block_close(int fd) {
  struct read_block *b = &read_blocks[(unsigned)fd % 8];
  if (b->owner == fd + 1) {
    b->at = b->size = 0;
    b->owner = 0;
  }
  return close(fd);
}

""",
}
