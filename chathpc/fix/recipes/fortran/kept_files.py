"""Files that a subroutine of Fortran opens, appends a record to and closes in every call: they stay open from one record to the next."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.edits import Edit, fresh_name, indent, indent_step, line_end, line_start, without_line
from chathpc.fix.recipes.analysis.program import Procedure, Program, Source, Spot
from chathpc.fix.recipes.analysis.syntax import children, line_of, nodes, text_of
from chathpc.fix.recipes.fortran.file_records import Record, file_name, is_alone, record_of, settings
from chathpc.fix.recipes.fortran.ranks import holder
from chathpc.fix.recipes.fortran.statements import (
    called,
    is_only_statement,
)
from chathpc.fix.recipes.recipe import Change, Context

if TYPE_CHECKING:
    from tree_sitter import Node

#: Other programs, processes and languages might look at the file, or the program might end without closing it.
_OUTSIDE = re.compile(
    rb"^[ \t]*(?:#|include\b|interface[ \t]*$)|!\$(?:omp|acc)\b"
    rb"|\b(?:external|bind\s*\(|iso_c_binding|error\s+stop|entry|equivalence|common|codimension|sync\s+all|this_image|asynchronous)\b",
    re.MULTILINE | re.IGNORECASE,
)
#: Functions that some compilers know and that have to do with files, processes or signals.
_EXTENSIONS = frozenset(
    {
        "access",
        "alarm",
        "chdir",
        "chmod",
        "execute_command_line",
        "fget",
        "fgetc",
        "fnum",
        "fork",
        "fput",
        "fputc",
        "fseek",
        "fstat",
        "ftell",
        "getc",
        "isatty",
        "kill",
        "link",
        "lstat",
        "putc",
        "rename",
        "signal",
        "stat",
        "symlnk",
        "system",
        "ttynam",
        "unlink",
    }
)
_INTRINSIC_MODULES = frozenset({"iso_fortran_env", "ieee_arithmetic", "ieee_exceptions", "ieee_features"})
#: Subroutines of the language that have nothing to do with files (Fortran 2018, table 16.1).
_INTRINSIC_SUBROUTINES = frozenset(
    {
        "cpu_time",
        "date_and_time",
        "get_command",
        "get_command_argument",
        "get_environment_variable",
        "move_alloc",
        "mvbits",
        "random_init",
        "random_number",
        "random_seed",
        "system_clock",
    }
)
#: Units are counted from here: who gives out numbers gives out small ones, and `newunit` negative ones (Fortran 2018, 12.5.6.12).
_FIRST_UNIT = 7100


def kept_open(context: Context, spot: Spot) -> Iterator[Change]:
    """`open (…, position='append')`, `write` and `close` in a subroutine: the first call opens, and whoever else opens the file closes it
    first; the end of the program closes it as well (Fortran 2018, 12.5.7.3).
    """
    procedure, program = spot.procedure, context.program
    record = record_of(procedure, program)
    if record is None or not _is_all_known(program) or not _is_repeated(procedure, program):
        return
    if not is_alone(record, procedure, program):
        return
    plan = _Plan(procedure, program)
    if plan.closes_in_front_of_others(record):
        plan.keep(record)
        yield Change(
            {path: tuple(sorted(each)) for path, each in plan.edits.items()}, line_of(record.opened),
            "keeps the file open from one record to the next, until somebody else opens it or the program ends",
        )  # fmt: skip


def _is_all_known(program: Program) -> bool:
    """True if all that the program does with files is to be seen: one program of Fortran, without threads, processes and libraries."""
    if program.unread or program.has_threads or any(one.has_errors for one in program.procedures):
        return False
    if any(not one.is_fortran or _OUTSIDE.search(_code(one)) is not None for one in program.sources.values()):
        return False
    roots = [one.file.tree.root_node for one in program.sources.values()]
    modules = {
        text_of(each).lower() for root in roots for one in nodes(root, "module_statement") for each in children(one)[:1]
    }
    for root in roots:
        for one in nodes(root, "use_statement"):
            if text_of(next(nodes(one, "module_name"), one)).lower() not in modules | _INTRINSIC_MODULES:
                return False
        for one in nodes(root, "subroutine_call"):
            name = called(one)
            if name and name not in _INTRINSIC_SUBROUTINES and not program.named(name):
                return False
    for procedure in program.procedures:
        for one in procedure.all("call_expression"):
            name = called(one)
            if name in _EXTENSIONS and holder(name, procedure) is None and name not in program.variables:
                return False
    return sum(1 for root in roots for _ in nodes(root, "program")) == 1


def _code(source: Source) -> bytes:
    """The text without comments that compilers do not read."""
    return re.sub(rb"'[^'\n]*'|\"[^\"\n]*\"|!(?!\$)[^\n]*", b"", source.text)


def _is_repeated(procedure: Procedure, program: Program) -> bool:
    """True if a loop calls it, or another procedure, which may be called in one."""
    name = procedure.model.name
    for one in program.procedures:
        for call in one.all("subroutine_call"):
            if called(call) != name:
                continue
            if one.node.type != "program":
                return True
            around = call.parent
            while around is not None and around.type != "program":
                if around.type == "do_loop":
                    return True
                around = around.parent
    return False


class _Plan:
    """The edits that keep a file open, and those that close it where somebody else opens it."""

    def __init__(self, procedure: Procedure, program: Program) -> None:
        self.procedure, self.program = procedure, program
        self.source, self.text = procedure.source, procedure.source.text
        everything = b"\n".join(one.text.lower() for one in program.sources.values())
        name = procedure.model.name
        self.unit = fresh_name(f"{name}_unit", everything)
        self.is_open = fresh_name(f"{name}_is_open", everything)
        self.close = fresh_name(f"close_{name}", everything)
        number = _FIRST_UNIT + program.procedures.index(procedure)
        while re.search(rb"\b%d\b" % number, everything):
            number += len(program.procedures)
        self.number = number
        self.edits: dict[str, set[Edit]] = {}
        self._is_needed = self._is_used_elsewhere = False

    def closes_in_front_of_others(self, record: Record) -> bool:
        """True if the file can be closed before each statement that might open it or ask for it."""
        for source in self.program.sources.values():
            for node in nodes(source.file.tree.root_node, "open_statement", "inquire_statement"):
                around = [
                    one for one in source.procedures if one.node.start_byte <= node.start_byte < one.node.end_byte
                ]
                if node == record.opened:
                    continue
                if not around:
                    return False
                inner = max(around, key=lambda one: one.node.start_byte)
                if self._may_be_this(node, record, inner) and not self._closed_before(node, inner):
                    return False
        return True

    def _may_be_this(self, node: Node, record: Record, procedure: Procedure) -> bool:
        said = settings(node)
        if said is None:
            return True
        if "file" not in said:
            return node.type == "open_statement" and record.file.lower().startswith("fort.")
        other = file_name(said["file"], procedure, self.program)
        mine = record.file.rpartition("/")[2].lower()
        return other is None or other.rpartition("/")[2].lower() == mine

    def _closed_before(self, node: Node, procedure: Procedure) -> bool:
        source = procedure.source
        statement = node
        if is_only_statement(node) and node.parent is not None:
            statement = node.parent
        start, end = statement.start_byte, statement.end_byte
        if source.text[line_start(source.text, start) : start].strip() or not self._can_see(procedure):
            return False
        self._is_needed = True
        blank = indent(source.text, start)
        new = f"call {self.close}\n".encode() + blank + source.text[start:end]
        self.edits.setdefault(source.path, set()).add(Edit(start, end, new))
        return True

    def _can_see(self, procedure: Procedure) -> bool:
        """True if the procedure is in the same module or program, or uses that module: then it may use one name more of it."""
        around = self._around
        node = procedure.node
        if (
            procedure.source is self.source
            and around.start_byte <= node.start_byte
            and node.end_byte <= around.end_byte
        ):
            return True
        name = text_of(children(children(around)[0])[0]).lower() if around.type == "module" else ""
        one: Node | None = node
        while one is not None and name:
            for each in one.named_children:
                if each.type == "use_statement" and text_of(next(nodes(each, "module_name"), each)).lower() == name:
                    text, start = procedure.source.text, line_start(procedure.source.text, each.start_byte)
                    if text[start : each.start_byte].strip():
                        return False
                    new = indent(text, each.start_byte) + f"use {name}, only: {self.close}\n".encode()
                    self.edits.setdefault(procedure.source.path, set()).add(Edit(start, start, new))
                    self._is_used_elsewhere = True
                    return True
            one = one.parent
        return False

    @property
    def _around(self) -> Node:
        inside = self.procedure.node.parent
        return inside.parent if inside is not None and inside.parent is not None else self.procedure.node

    def keep(self, record: Record) -> None:
        """The edits in the subroutine, the variables that outlast it, and the subroutine that closes the file."""
        text, edits = self.text, self.edits.setdefault(self.source.path, set())
        step = indent_step(text).decode()
        blank = indent(text, record.opened.start_byte).decode()
        setting = record.number.parent or record.number
        opens = (
            text[record.opened.start_byte : setting.start_byte] + f"unit={self.unit}".encode()
            + text[setting.end_byte : record.opened.end_byte]
        ).decode("utf-8", "surrogateescape")  # fmt: skip
        lines = [f"if (.not. {self.is_open}) then", f"{step}{opens}", f"{step}{self.is_open} = .true.", "end if"]
        new = f"\n{blank}".join(lines).encode("utf-8", "surrogateescape")
        edits.add(Edit(record.opened.start_byte, record.opened.end_byte, new))
        edits.update(Edit(each.start_byte, each.end_byte, self.unit.encode()) for each in record.writes)
        edits.add(without_line(record.closed, text, b"continue"))
        self._declare(edits)
        if self._is_needed:
            own = indent(text, self.procedure.node.start_byte).decode()
            lines = [
                f"subroutine {self.close}",
                f"{step}if ({self.is_open}) close ({self.unit})",
                f"{step}{self.is_open} = .false.",
                f"end subroutine {self.close}",
            ]
            end = line_end(text, self.procedure.node.end_byte - 1)
            edits.add(Edit(end, end, ("\n" + "".join(f"{own}{each}\n" for each in lines)).encode()))

    def _declare(self, edits: set[Edit]) -> None:
        around, text = self._around, self.text
        listed = [each for each in around.named_children if each.type == "variable_declaration"]
        inside = self.procedure.node.parent
        start = inside.start_byte if inside is not None else around.end_byte
        if listed:
            at = line_end(text, listed[-1].end_byte - 1)
            blank = indent(text, listed[-1].start_byte).decode()
        else:
            at = line_start(text, start)
            blank = indent(text, start).decode() + indent_step(text).decode()
        private = ", private" if around.type == "module" else ""
        lines = [
            f"integer, parameter{private} :: {self.unit} = {self.number}",
            f"logical, save{private} :: {self.is_open} = .false.",
        ]
        lines += [f"public :: {self.close}"] if self._is_used_elsewhere else []
        edits.add(Edit(at, at, "".join(f"{blank}{each}\n" for each in lines).encode()))
