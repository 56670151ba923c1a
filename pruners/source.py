"""The source that a model is shown: as written, without comments and long strings, and the names that stand in it.

Shown are the functions in which the time is, then what calls them, what they call, and the types, macros and variables that they use,
as far as there is room. A name counts as shown where it stands in the syntax tree, not where a comment or a string has it.
"""

from __future__ import annotations

import ast
import posixpath
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from chathpc.diagnosis.source.languages import grammar_of, is_fortran, is_python
from chathpc.diagnosis.source.text import MOST_BYTES, parsed
from chathpc.profile.languages import is_fixed_form, kind_of
from chathpc.profile.source_text import SourceReader

if TYPE_CHECKING:
    from tree_sitter import Node

#: A string of more characters is cut: no code needs its words to be understood.
LONGEST_STRING = 40
#: A function of more lines is shown around its hot lines, with the heads of the loops around them.
_WHOLE_FUNCTION = 150
_AROUND = 25
#: So many files of a program are looked at.
_MOST_FILES = 60
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"\n]+)"', re.MULTILINE)
#: A comment inside a directive, which the grammars leave there; and a string.
_IN_DIRECTIVE = re.compile(rb'//[^\n]*|/\*.*?(?:\*/|\Z)|!(?!\$)[^\n]*|"(?:[^"\\\n]|\\.)*"', re.DOTALL)
#: What a comment of Fortran must begin with to be a directive.
_DIRECTIVE = re.compile(rb"[!cC*](?:\$(?:omp|acc)\b|(?:dir|dec|gcc|ibm)\$)", re.IGNORECASE)
#: Words of the language that a directive may hold.
_KEYWORDS = frozenset({"if", "for", "do", "while", "else", "default", "switch", "return", "sizeof"})
_STRINGS = frozenset({"string_literal", "raw_string_literal", "char_literal", "concatenated_string"})
_LOOPS = frozenset({"for_statement", "while_statement", "do_statement", "for_range_loop", "do_loop"})
_HOLDERS = frozenset(
    {
        "translation_unit", "namespace_definition", "declaration_list", "linkage_specification", "template_declaration",
        "preproc_ifdef", "preproc_if", "preproc_else", "preproc_elif", "module", "submodule", "program", "internal_procedures", "ERROR",
    }
)  # fmt: skip
_FUNCTIONS = frozenset({"function_definition", "subroutine", "function", "module_procedure"})
_RECORDS = frozenset({"struct_specifier", "class_specifier", "union_specifier"})


@dataclass(frozen=True, slots=True)
class Part:
    """A definition of a file: the lines that show it, the names that it defines, and all names in it."""

    lines: frozenset[int]
    defines: frozenset[str]
    uses: frozenset[str]
    function: bool


class SourceText:
    """One file: its lines as they are shown, the names on each, and its definitions."""

    def __init__(self, name: str, lines: Sequence[str]) -> None:
        self.name = name
        self.raw = "\n".join(lines)
        self._file = parsed(name, self.raw.encode("utf-8", "replace"))

    @property
    def has_tree(self) -> bool:
        """Whether there is a grammar for the language."""
        return self._file is not None

    @cached_property
    def lines(self) -> list[str]:
        """All lines without comments and long strings; line n is at n − 1."""
        return self._split[0]

    @cached_property
    def _names(self) -> dict[int, set[str]]:
        return self._split[1]

    def names_on(self, lines: Iterable[int]) -> set[str]:
        """The names in the code of these lines."""
        return {name for line in lines for name in self._names.get(line, ())}

    @cached_property
    def _split(self) -> tuple[list[str], dict[int, set[str]]]:
        if self._file is None:
            return _lexed(self.name, self.raw)
        # By row and column: the grammar may have read a text whose lines are longer or shorter (fixed form, macros).
        rows = [bytearray(line.encode("utf-8", "replace")) for line in self.raw.split("\n")]
        names: dict[int, set[str]] = {}
        strings: list[Node] = []
        for node in _leaves(self._file.tree.root_node):
            text = node.text or b""
            if node.type in _STRINGS:
                strings.append(node)
            if node.type == "comment":
                if not (is_fortran(self.name) and _DIRECTIVE.match(text)):
                    _cut(rows, node)
            elif node.type in _STRINGS:
                if len(text) > LONGEST_STRING + 2 or b"\n" in text:
                    _cut(rows, node, mark='"..."')
            elif node.type == "preproc_arg":
                row, column = node.start_point
                for found in reversed(list(_IN_DIRECTIVE.finditer(text))):
                    if b"\n" not in text[: found.end()]:
                        rows[row][column + found.start() : column + found.end()] = b" " * len(found[0])
                    else:
                        _cut(rows, node)
                plain = _IN_DIRECTIVE.sub(b" ", text).decode("utf-8", "replace")
                names.setdefault(row + 1, set()).update({*_IDENTIFIER.findall(plain)} - _KEYWORDS)
            elif not node.children and _is_name(node):
                names.setdefault(node.start_point.row + 1, set()).add(text.decode("utf-8", "replace"))
        if not is_fortran(self.name):
            names = _without_open_comment(rows, strings, names)
        kept = [row.decode("utf-8", "replace").rstrip() for row in rows]
        if is_fortran(self.name):
            # A comment between two lines of one statement in fixed form is none of the nodes.
            kept = ["" if _is_fixed_comment(self.name, line) else line for line in kept]
        return kept, names

    @cached_property
    def parts(self) -> list[Part]:
        """The definitions of the file, in its order."""
        if self._file is None:
            return (
                [self._part_of_python(node) for node in _python_definitions(self.raw)] if is_python(self.name) else []
            )
        return [self._part(node) for node in _definitions(self._file.tree.root_node)]

    def _part(self, node: Node) -> Part:
        first, last = node.start_point.row + 1, node.end_point.row + 1
        lines = range(first, last + (node.end_point.column > 0 or last == first))
        function = node.type in _FUNCTIONS
        defines = set(_declared(node)) if not function else {*_function_names(node)}
        if node.type in ("preproc_def", "preproc_function_def"):
            defines |= {_text(child) for child in node.children if child.type == "identifier"}
        return Part(frozenset(lines), frozenset(defines), frozenset(self.names_on(lines)), function)

    def _part_of_python(self, node: ast.stmt) -> Part:
        first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))])
        lines = frozenset(range(first, (node.end_lineno or first) + 1))
        function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        named = [node] if function or isinstance(node, ast.ClassDef) else list(ast.walk(node))
        defines = {each.name for each in named if isinstance(each, _NAMED_IN_PYTHON)}
        defines |= {each.id for each in named if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
        return Part(lines, frozenset(defines), frozenset(self.names_on(lines)), function)

    def around(self, hot: Iterable[int], part: Part) -> frozenset[int]:
        """Of a long function its head, what is near to its hot lines, and the heads of the loops around these."""
        if len(part.lines) <= _WHOLE_FUNCTION:
            return part.lines
        first = min(part.lines)
        lines = {first, first + 1, first + 2}
        for at in hot:
            lines.update(range(at - _AROUND, at + _AROUND + 1))
            lines.update(self._loop_heads(at))
        return frozenset(lines & part.lines)

    def _loop_heads(self, line: int) -> Iterator[int]:
        if self._file is None:
            return
        node = self._file.tree.root_node.descendant_for_point_range((line - 1, 0), (line - 1, 10_000))
        while node is not None:
            if node.type in _LOOPS:
                yield node.start_point.row + 1
            node = node.parent

    @cached_property
    def includes(self) -> list[str]:
        """Files of the program that it includes, as paths beside its own."""
        folder = posixpath.dirname(self.name)
        return [posixpath.normpath(posixpath.join(folder, each)) for each in _INCLUDE.findall(self.raw)]


@dataclass(frozen=True, slots=True)
class Shown:
    """What of which files is shown. `labels` are the files' names as they stand in the question, by their recorded names."""

    files: Mapping[str, SourceText]
    lines: Mapping[str, frozenset[int]]
    labels: Mapping[str, str]

    def names(self) -> frozenset[str]:
        """All names in the shown code."""
        found: set[str] = set()
        for name, lines in self.lines.items():
            found |= self.files[name].names_on(lines)
        return frozenset(found)

    def numbers(self) -> frozenset[str]:
        """All literal numbers in the shown code."""
        text = "\n".join(line for name in self.lines for _, line in self.numbered(name))
        return frozenset(re.findall(r"\d[\w.]*", text))

    def numbered(self, name: str) -> list[tuple[int, str]]:
        """The shown lines of a file that are not empty, with their numbers."""
        text = self.files[name].lines
        return [(at, text[at - 1]) for at in sorted(self.lines[name]) if 0 < at <= len(text) and text[at - 1].strip()]

    def file_called(self, label: str) -> str | None:
        """The recorded name of the shown file with this label; None for another."""
        return next((name for name, each in self.labels.items() if each == label), None)

    def block(self) -> list[str]:
        """The source as it stands in the question: each file's label, then its lines with their numbers."""
        told = []
        for name in self.lines:
            told.append(f"{self.labels[name]}:")
            before = 0
            for at, line in self.numbered(name):
                if before and any(text.strip() for text in self.files[name].lines[before : at - 1]):
                    told.append("      …")
                told.append(f"{at:5d} {line}")
                before = at
        return told


NOTHING = Shown({}, {}, {})


def shown(read: SourceReader, hot: Sequence[tuple[str, int]], callers: Sequence[tuple[str, int]], most: int) -> Shown:
    """The source of the `hot` lines (recorded file, line), the hottest first, and what belongs to it, from `read` in about `most` characters.

    `callers` are lines from which the hot ones are called, the most important first.
    """
    files = Files(read)
    room = most
    lines: dict[str, set[int]] = {}
    taken: set[tuple[str, int]] = set()

    def take(name: str, wanted: frozenset[int]) -> bool:
        nonlocal room
        text = files.of(name)
        new = wanted - lines.get(name, set()) if text is not None else frozenset()
        size = sum(len(text.lines[at - 1]) + 7 for at in new if text and at <= len(text.lines))
        if text is None or size > room:
            return False
        lines.setdefault(name, set()).update(new)
        room -= size
        return True

    used: list[str] = []
    for name, line in (*hot, *callers):
        text = files.of(name)
        if text is None or line <= 0:
            continue
        at, part = _part_at(text, line)
        if part is None:
            take(name, frozenset(range(max(1, line - _AROUND), line + _AROUND + 1)))
            continue
        if (name, at) not in taken:
            taken.add((name, at))
            mine = [each for file, each in hot if file == name and each in part.lines] or [line]
            if take(name, text.around(mine, part)):
                used += sorted(part.uses)
    for _ in range(2):  # what the hot code uses, and what that uses
        following: list[str] = []
        for file, at, part in files.defining(dict.fromkeys(used)):
            if (file, at) in taken:
                continue
            taken.add((file, at))
            text = files.of(file)
            if text is not None and take(file, text.around((), part)):
                following += sorted(part.uses)
        used = following
    kept = {name: frozenset(each) for name, each in lines.items() if each}
    return Shown({name: text for name in kept if (text := files.of(name))}, kept, labels_of(kept))


class Files:
    """The program's files that can be read, parsed when they are first asked for."""

    def __init__(self, read: SourceReader) -> None:
        self._source = read
        self._read: dict[str, SourceText | None] = {}
        self._asked = 0

    def of(self, name: str) -> SourceText | None:
        """A file by its recorded name; None where it cannot be read."""
        if name not in self._read:
            self._asked += 1
            self._read[name] = self._open(name) if self._asked <= _MOST_FILES else None
        return self._read[name]

    def open(self, names: Iterable[str]) -> None:
        """Read these files, as far as they can be."""
        for name in names:
            self.of(name)

    def _open(self, name: str) -> SourceText | None:
        if kind_of(name) is None:
            return None
        excerpt = self._source(name, 1, MOST_BYTES)
        if excerpt is None or excerpt.first != 1 or sum(map(len, excerpt.lines)) > MOST_BYTES:
            return None
        text = SourceText(name, excerpt.lines)
        return text if text.has_tree or grammar_of(name) is None else None

    def all(self) -> list[tuple[str, SourceText]]:
        """The files read so far, and those that they include."""
        pending = [name for name, text in self._read.items() if text is not None]
        for name in pending:
            text = self._read.get(name)
            for other in text.includes if text is not None else ():
                if other not in self._read and self.of(other) is not None:
                    pending.append(other)
        return [(name, text) for name, text in self._read.items() if text is not None]

    def defining(self, names: Mapping[str, None]) -> list[tuple[str, int, Part]]:
        """The definitions of `names` in all files of the program that are known, in the order of the names."""
        where: dict[str, list[tuple[str, int, Part]]] = {}
        for name, text in self.all():
            for at, part in enumerate(text.parts):
                for each in part.defines:
                    where.setdefault(each, []).append((name, at, part))
        return [found for name in names for found in where.get(name, ())]


def _part_at(text: SourceText, line: int) -> tuple[int, Part | None]:
    """The smallest definition that holds a line, and its number."""
    holding = [(len(part.lines), at) for at, part in enumerate(text.parts) if line in part.lines]
    return (min(holding)[1], text.parts[min(holding)[1]]) if holding else (-1, None)


def labels_of(names: Iterable[str]) -> dict[str, str]:
    """The last part of each path, with as many folders before it as tell it from the others."""
    paths = {name: name.replace("\\", "/").split("/") for name in names}
    labels = {}
    for name, parts in paths.items():
        others = [other for each, other in paths.items() if each != name]
        count = 1
        while count < len(parts) and any(other[-count:] == parts[-count:] for other in others):
            count += 1
        labels[name] = "/".join(parts[-count:]).lstrip("/")
    return labels


# -- syntax ----------------------------------------------------------------------------------------------------


def _leaves(root: Node) -> Iterator[Node]:
    """Comments, strings and directives as wholes, and all else that has no children, in the order of the text."""
    pending = [root]
    while pending:
        node = pending.pop()
        if node.type == "comment" or node.type in _STRINGS or node.type == "preproc_arg" or not node.children:
            yield node
        else:
            pending.extend(reversed(node.children))


def _is_name(node: Node) -> bool:
    kind = node.type
    return node.is_named and (
        "identifier" in kind or kind in ("name", "primitive_type", "type_name", "method_name", "auto")
    )


def _definitions(root: Node) -> Iterator[Node]:
    """Functions, types, variables and macros of a file; of what holds others the others, and of a module's head its declarations."""
    pending = [root]
    while pending:
        node = pending.pop()
        if node.type in _HOLDERS:
            pending.extend(reversed([child for child in node.children if child.is_named]))
            continue
        if node.type == "comment":
            continue
        yield node
        if node.type in _FUNCTIONS:
            pending.extend(child for child in node.children if child.type == "internal_procedures")
        else:  # the methods of a class are definitions of their own
            pending.extend(_methods(node))


def _methods(node: Node) -> Iterator[Node]:
    pending = list(node.children)
    while pending:
        child = pending.pop(0)
        if child.type in _FUNCTIONS:
            yield child
        elif child.type in _RECORDS or child.type in ("field_declaration_list", "template_declaration"):
            pending.extend(child.children)


_NAMED_IN_PYTHON = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _python_definitions(text: str) -> Iterator[ast.stmt]:
    """Functions and classes of a module with those in them, and what it sets at its top; nothing of what this Python cannot read."""
    try:
        with warnings.catch_warnings():  # of what it holds unwise in the text
            warnings.simplefilter("ignore")
            pending = list(ast.parse(text).body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    top = set(map(id, pending))
    while pending:
        node = pending.pop()
        if isinstance(node, _NAMED_IN_PYTHON):
            pending += node.body
            yield node
        elif id(node) in top and isinstance(node, ast.Assign | ast.AnnAssign):
            yield node


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


def _function_names(node: Node) -> Iterator[str]:
    """The name of a function, without its scopes."""
    if node.type == "function_definition":
        inner: Node | None = node.child_by_field_name("declarator")
        while inner is not None and not _is_name(inner):
            inner = inner.child_by_field_name("declarator") or inner.child_by_field_name("name") or _last_named(inner)
        if inner is not None:
            yield _text(inner)
        return
    for statement in node.children:
        name = statement.child_by_field_name("name")
        if name is not None:
            yield _text(name)
            return


def _last_named(node: Node) -> Node | None:
    named = [child for child in node.children if child.is_named]
    return named[-1] if named and node.type in ("reference_declarator", "pointer_declarator") else None


def declared_names(root: Node) -> set[str]:
    """All names that a tree declares: variables, parameters, functions, types, macros, labels."""
    return set(_declared(root))


def _declared(root: Node) -> Iterator[str]:
    pending = [root]
    while pending:
        node = pending.pop()
        for at, child in enumerate(node.children):
            field = node.field_name_for_child(at)
            if child.is_named and _is_name(child) and _declares(node, field):
                yield _text(child)
            pending.append(child)


#: Nodes of which a name in the field `name` is declared there.
_NAMING = _RECORDS | {
    "enum_specifier", "enumerator", "alias_declaration", "preproc_def", "preproc_function_def", "namespace_definition",
    "subroutine_statement", "function_statement", "module_statement", "derived_type_statement", "type_definition",
}  # fmt: skip


def _declares(node: Node, field: str | None) -> bool:
    if field == "declarator":
        return True
    if node.type == "init_declarator" and field == "left":
        return True
    if node.type in (
        "sized_declarator",
        "preproc_params",
        "structured_binding_declarator",
        "pointer_declarator",
        "reference_declarator",
    ):
        return True
    return field == "name" and node.type in _NAMING


def _cut(rows: list[bytearray], node: Node, mark: str = "") -> None:
    """Blank the text of a node; `mark` stands where it began."""
    (first, begin), (last, end) = node.start_point, node.end_point
    for row in range(first, min(last, len(rows) - 1) + 1):
        line = rows[row]
        start, stop = (begin if row == first else 0), (end if row == last else len(line))
        line[start:stop] = b" " * len(line[start:stop])
    if mark and first < len(rows):
        rows[first][begin : begin + len(mark)] = mark.encode()


def _without_open_comment(
    rows: list[bytearray], strings: Sequence[Node], names: dict[int, set[str]]
) -> dict[int, set[str]]:
    """Blank all behind a comment that nobody closed, which the grammar takes for code; the names that are left."""
    bare = [bytearray(row) for row in rows]
    for node in strings:
        _cut(bare, node)
    at = next(((row, line.find(b"/*")) for row, line in enumerate(bare) if b"/*" in line), None)
    if at is None:
        return names
    row, column = at
    del rows[row][column:]
    for line in rows[row + 1 :]:
        line.clear()
    return {line: found for line, found in names.items() if line <= row}


def _is_fixed_comment(name: str, line: str) -> bool:
    marked = line[:1] in tuple("cC*dD!") and line[1:2] != "$"
    return is_fixed_form(name) and marked and not _DIRECTIVE.match(line.encode())


# -- languages without a grammar -------------------------------------------------------------------------------


def _lexed(name: str, raw: str) -> tuple[list[str], dict[int, set[str]]]:
    """Lines without comments and long strings, and names by line, of a language that only a lexer knows."""
    from pygments.lexers import get_lexer_for_filename
    from pygments.token import Comment, Name, String
    from pygments.util import ClassNotFound

    try:
        lexer = get_lexer_for_filename(posixpath.basename(name), stripnl=False, ensurenl=False)
    except ClassNotFound:
        return [], {}
    kept: list[str] = []
    names: dict[int, set[str]] = {}
    line, run = 1, 0
    for kind, text in lexer.get_tokens(raw):
        if kind in Comment:
            kept.append(re.sub(r"[^\n]", "", text))
        elif kind in String:
            run += len(text)
            long = run > LONGEST_STRING or kind in String.Doc
            kept.append(re.sub(r"[^\n]", "", text) if long else text)
        else:
            run = 0
            kept.append(text)
            if kind in Name:
                names.setdefault(line, set()).add(text)
        line += text.count("\n")
    return [each.rstrip() for each in "".join(kept).split("\n")], names
