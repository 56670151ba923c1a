"""Seeded damage that keeps a file of its kind: numbers, lines, JSON values and database cells that are not what they should be."""

from __future__ import annotations

import copy
import gzip
import json
import re
import sqlite3
import zlib
from pathlib import Path
from random import Random
from typing import Any

from tests.adapters.damage import DAMAGES

NUMBERS = (
    "0", "-1", "-0", "1e999", "nan", "inf", "-inf", "99999999999999999999", "18446744073709551615", "9223372036854775807",
    "-9223372036854775808", "1e-320", "0x10", "١٢", "1,000,000", "1.5.2", "", "9" * 5000,
)  # fmt: skip
WORDS = (
    "\x00",
    "\x1b[2J",
    "\u202e",
    "=>",
    '"',
    "\\",
    "\t",
    "{",
    "[",
    "(",
    "<!ENTITY",
    ";" * 50,
    "x" * 3000,
    "\ud7ff",
    "->",
    ":",
    " ",
)
VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1 << 31, 1 << 63, (1 << 63) - 1, -(1 << 63), 1e308, -1e308, 1e-320, "", "x", "nan", "\x1b[2J",
    "\u202etxt", [], {}, [[]], [None], {"": ""}, "9" * 400, 1.5, "1",
)  # fmt: skip
CELLS: tuple[object, ...] = (
    None, 0, -1, 1 << 31, (1 << 63) - 1, -(1 << 63), 1.5, 1e300, "", "text", "\x1b[2J", b"", b"\x00\xff", "x" * 5000, "12",
)  # fmt: skip


def damage_text(data: bytes, random: Random) -> bytes:
    """Numbers, words and lines of a text changed, repeated, moved or left out."""
    text = data.decode("utf-8", "surrogateescape")
    for _ in range(random.randint(1, 4)):
        lines = text.split("\n")
        choice = random.randrange(6)
        at = random.randrange(len(lines))
        if choice == 0:
            found = list(re.finditer(r"-?\d+(\.\d+)?", lines[at]))
            if found:
                one = random.choice(found)
                lines[at] = lines[at][: one.start()] + random.choice(NUMBERS) + lines[at][one.end() :]
        elif choice == 1:
            place = random.randrange(len(lines[at]) + 1)
            lines[at] = lines[at][:place] + random.choice(WORDS) + lines[at][place:]
        elif choice == 2:
            del lines[at]
        elif choice == 3:
            lines[at:at] = [lines[random.randrange(len(lines))]] * random.choice((1, 2, 50))
        elif choice == 4:
            other = random.randrange(len(lines))
            lines[at], lines[other] = lines[other], lines[at]
        else:
            fields = re.split(r"(\s+|,)", lines[at])
            random.shuffle(fields)
            lines[at] = "".join(fields)
        text = "\n".join(lines) or " "
    return text.encode("utf-8", "surrogateescape")


def damage_json(data: bytes, random: Random) -> bytes:
    """Values of a JSON document replaced, removed, renamed, repeated or exchanged; deep nesting."""
    document = json.loads(data)
    for _ in range(random.randint(1, 4)):
        spots: list[tuple[Any, Any]] = []
        pending = [document]
        while pending:
            here = pending.pop()
            entries = (
                list(here.items())
                if isinstance(here, dict)
                else list(enumerate(here))
                if isinstance(here, list)
                else []
            )
            spots += [(here, key) for key, _ in entries]
            pending += [value for _, value in entries]
        if not spots:
            break
        holder, key = random.choice(spots)
        choice = random.randrange(6)
        if choice == 0:
            del holder[key]
        elif choice == 1 and isinstance(holder, dict):
            holder[random.choice(("", "name", "id", "parent", str(key) + "x"))] = holder.pop(key)
        elif choice == 2 and isinstance(holder, list):
            holder.extend(copy.deepcopy(holder[key]) for _ in range(random.choice((1, 3, 40))))
        elif choice == 3:
            other, place = random.choice(spots)
            try:
                holder[key] = json.loads(json.dumps(other[place]))
            except (KeyError, IndexError, RecursionError, ValueError):
                holder[key] = None
        elif choice == 4 and random.random() < 0.2:
            nested: Any = holder[key]
            for _ in range(200):
                nested = [nested]
            holder[key] = nested
        else:
            holder[key] = copy.deepcopy(random.choice(VALUES))  # the next change may be to what stands there now
    return json.dumps(document).encode()


def damage_database(path: Path, random: Random) -> None:
    """Cells, tables, columns and views of an SQLite database changed in place."""
    connection = sqlite3.connect(path)
    connection.text_factory = lambda raw: raw.decode("utf-8", "replace")  # it may have been damaged before
    try:
        tables = [
            row[0]
            for row in connection.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
            )
        ]
        for _ in range(random.randint(1, 3) if tables else 0):
            table = random.choice(tables)
            columns = [row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')]
            if not columns:
                continue
            column = random.choice(columns)
            choice = random.randrange(9)
            count = int(connection.execute(f'SELECT count(*) FROM "{table}"').fetchone()[0])
            rows = f'SELECT rowid FROM "{table}" LIMIT {random.choice((1, 1, 3, 1000))} OFFSET {random.randrange(count + 1)}'
            statements = {
                0: f'UPDATE "{table}" SET "{column}" = ? WHERE rowid IN ({rows})',
                1: f'UPDATE "{table}" SET "{column}" = ? WHERE rowid IN ({rows})',
                2: f'UPDATE "{table}" SET "{column}" = ? WHERE rowid IN ({rows})',
                3: f'DELETE FROM "{table}" WHERE rowid IN ({rows})',
                4: f'DROP TABLE "{table}"',
                5: f'ALTER TABLE "{table}" DROP COLUMN "{column}"',
                6: f'ALTER TABLE "{table}" RENAME COLUMN "{column}" TO "other"',
                7: f'INSERT INTO "{table}" SELECT * FROM "{table}" LIMIT 20',
                8: f'UPDATE "{table}" SET "{column}" = "{random.choice(columns)}"',
            }
            try:
                if choice <= 2:
                    connection.execute(statements[choice], (random.choice(CELLS),))
                else:
                    connection.execute(statements[choice])
                if choice == 4:
                    tables.remove(table)
                    if random.random() < 0.5:
                        connection.execute(
                            f'CREATE VIEW "{table}" AS WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM r) SELECT x FROM r'
                        )
                    if not tables:
                        break
            except sqlite3.Error:
                continue
        connection.commit()
    finally:
        connection.close()


def damage_file(path: Path, random: Random, donor: bytes) -> str:
    """Damage the file at `path` by a way that suits its kind, or blindly; the name of the way."""
    data = path.read_bytes()
    packed = data.startswith(b"\x1f\x8b")
    inner = data
    if packed and random.random() < 0.7:
        try:
            inner = gzip.decompress(data)
        except (OSError, EOFError, zlib.error):  # damaged before
            inner = data
    way = "bytes"
    if random.random() < 0.5:
        if inner.startswith(b"SQLite format 3\x00") and not packed:
            try:
                damage_database(path, random)
            except (sqlite3.DatabaseError, UnicodeDecodeError):  # damaged before
                inner = path.read_bytes()
            else:
                return "database"
        elif inner.lstrip()[:1] in (b"{", b"["):
            try:
                inner, way = damage_json(inner, random), "json"
            except ValueError:
                inner, way = damage_text(inner, random), "text"
        elif b"\x00" not in inner[:4096]:
            inner, way = damage_text(inner, random), "text"
    if way == "bytes":
        changed = bytearray(inner)
        if changed:
            damage = random.choice(DAMAGES)
            damage(changed, random, donor or bytes(changed))
            way = damage.__name__
        inner = bytes(changed)
    if packed and not inner.startswith(b"\x1f\x8b"):
        inner = gzip.compress(inner, 1, mtime=0)
    path.write_bytes(inner)
    return way
