"""Seeded damage to bytes: what a full disk, a broken copy or an adversary does to a file."""

from __future__ import annotations

import struct
from collections.abc import Callable
from random import Random

EDGES = (0, 1, 2, 7, 0x7FFF, 0xFFFF, 1 << 31, (1 << 32) - 1, 1 << 32, 1 << 62, 1 << 63, (1 << 64) - 8, (1 << 64) - 1)
Damage = Callable[[bytearray, Random, bytes], None]


def truncate(data: bytearray, random: Random, other: bytes) -> None:
    del data[random.randrange(len(data)) :]


def edit_bytes(data: bytearray, random: Random, other: bytes) -> None:
    for _ in range(random.randint(1, 16)):
        data[random.randrange(len(data))] = random.randrange(256)


def flip_bit(data: bytearray, random: Random, other: bytes) -> None:
    data[random.randrange(len(data))] ^= 1 << random.randrange(8)


def edge_word(data: bytearray, random: Random, other: bytes) -> None:
    """Put an edge value, a size or a position of the file itself into an aligned word of 8, 4 or 2 bytes."""
    for _ in range(random.randint(1, 3)):
        width, form = random.choice(((8, "<Q"), (8, "<Q"), (4, "<I"), (2, "<H")))
        if len(data) < width:
            return
        place = random.randrange(len(data) // width) * width
        here = struct.unpack_from(form, data, place)[0]
        choices = (
            *EDGES,
            len(data),
            len(data) - 8,
            len(data) + 8,
            place,
            here + 8,
            here - 8,
            here * 2,
            here + 1,
            here - 1,
        )
        struct.pack_into(form, data, place, random.choice(choices) % (1 << 8 * width))


def copied_word(data: bytearray, random: Random, other: bytes) -> None:
    """Put one aligned word over another: pointers that point where something else lies."""
    words = len(data) // 8
    if words > 1:
        source, target = 8 * random.randrange(words), 8 * random.randrange(words)
        data[target : target + 8] = data[source : source + 8]


def zero_range(data: bytearray, random: Random, other: bytes) -> None:
    begin, end = _range(data, random)
    data[begin:end] = bytes(end - begin)


def swap_blocks(data: bytearray, random: Random, other: bytes) -> None:
    size = random.choice((8, 16, 32, 48, 64, 256))
    if len(data) >= 2 * size:
        a, b = (random.randrange((len(data) - size) // 8 + 1) * 8 for _ in range(2))
        data[a : a + size], data[b : b + size] = data[b : b + size], data[a : a + size]


def remove_range(data: bytearray, random: Random, other: bytes) -> None:
    begin, end = _range(data, random)
    del data[begin:end]


def insert_noise(data: bytearray, random: Random, other: bytes) -> None:
    place = random.randrange(len(data))
    data[place:place] = random.randbytes(random.choice((1, 4, 8, 100)))


def splice(data: bytearray, random: Random, other: bytes) -> None:
    """The end of the same file of another database behind the beginning of this one, or a piece of it in the middle."""
    place = random.randrange(min(len(data), len(other)))
    if random.random() < 0.5:
        data[place:] = other[place:]
    else:
        size = random.choice((8, 64, 512))
        data[place : place + size] = other[place : place + size]


def _range(data: bytearray, random: Random) -> tuple[int, int]:
    begin = random.randrange(len(data))
    return begin, min(len(data), begin + random.choice((1, 4, 8, 32, 100, 1000)))


DAMAGES: tuple[Damage, ...] = (
    truncate, edit_bytes, flip_bit, edge_word, edge_word, edge_word, copied_word, zero_range, swap_blocks, remove_range,
    insert_noise, splice,
)  # fmt: skip
