"""What git has of a folder's files, read from its own files: nothing of git is run.

Standard library only. A repository's settings can make git run anything; its files only say what
they say, and every content is checked against its name.
"""

import hashlib
import mmap
import os
import struct
import zlib
from collections.abc import Iterator
from typing import NamedTuple

INDEX_BYTES = 64_000_000
OBJECT_BYTES = 1_000_000
DEEPEST_DELTA = 100
ENTRY = struct.Struct(">10I20sH")
LINK, REGULAR = 0o120000, 0o100000
BLOB, OFFSET_DELTA, NAMED_DELTA = 3, 6, 7


class Tracked(NamedTuple):
    """A file as git last saw it."""

    mtime_ns: int
    inode: int
    size: int
    name: str
    """Of its content."""


class Index:
    """Which files git has, at the moment of `look`; none if there is no repository."""

    def __init__(self, folder: str) -> None:
        self._path = os.path.join(folder, ".git", "index")
        self._stamp: tuple[int, int, int] | None = None
        self._files: dict[str, Tracked] = {}
        self._written_ns = 0

    def look(self) -> None:
        try:
            found = os.stat(self._path)
        except OSError:
            self._stamp, self._files = None, {}
            return
        stamp = found.st_mtime_ns, found.st_size, found.st_ino
        if stamp == self._stamp:
            return
        self._stamp, self._written_ns = stamp, found.st_mtime_ns
        try:
            with open(self._path, "rb") as file:
                self._files = dict(entries(file.read(INDEX_BYTES)))
        except (OSError, ValueError, struct.error, IndexError):
            self._files = {}

    def clean(self, path: str, found: os.stat_result) -> str | None:
        """The name of the file's content, if it is as git has it; None: nobody can say."""
        known = self._files.get(path)
        if known is None:
            return None
        same = (
            known.mtime_ns == found.st_mtime_ns
            and known.inode == found.st_ino & 0xFFFFFFFF
            and known.size == found.st_size & 0xFFFFFFFF
        )
        # What was written in the moment in which git looked may have changed right after.
        return known.name if same and known.mtime_ns < self._written_ns else None


def entries(data: bytes) -> Iterator[tuple[str, Tracked]]:
    """Of an index of version 2 to 4; raises ValueError for anything else."""
    if data[:4] != b"DIRC" or hashlib.sha1(data[:-20]).digest() != data[-20:]:
        raise ValueError("no index of git")
    version, count = struct.unpack_from(">2I", data, 4)
    if version not in (2, 3, 4):
        raise ValueError("an index of another version")
    at, last = 12, b""
    for _ in range(count):
        fields = ENTRY.unpack_from(data, at)
        flags, start = fields[11], at + ENTRY.size
        if version >= 3 and flags & 0x4000:
            start += 2
        if version == 4:
            cut, start = _varint(data, start)
            end = data.index(b"\0", start)
            last = last[: len(last) - cut] + data[start:end]
            at = end + 1
        else:
            end = data.index(b"\0", start)
            last = data[start:end]
            # Padded to a multiple of eight, with one zero at least.
            at += (end - at + 8) & ~7
        if flags & 0x3000 == 0 and fields[6] & 0o170000 in (REGULAR, LINK):
            mtime_ns = fields[2] * 1_000_000_000 + fields[3]
            tracked = Tracked(mtime_ns, fields[5], fields[9], fields[10].hex())
            yield os.fsdecode(last), tracked


def content_of(folder: str, name: str) -> bytes | None:
    """The content of that name; None: it is not there, too large, or not what it says."""
    objects = os.path.join(folder, ".git", "objects")
    try:
        content = _loose(objects, name) or _packed(objects, name)
    except (OSError, ValueError, struct.error, IndexError, zlib.error):
        return None
    if content is None:
        return None
    said = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
    return content if said == name else None


def _loose(objects: str, name: str) -> bytes | None:
    try:
        with open(os.path.join(objects, name[:2], name[2:]), "rb") as file:
            whole = zlib.decompressobj().decompress(file.read(), OBJECT_BYTES + 100)
    except FileNotFoundError:
        return None
    return whole.partition(b"\0")[2] if whole.startswith(b"blob ") else None


def _packed(objects: str, name: str) -> bytes | None:
    folder = os.path.join(objects, "pack")
    for entry in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
        if not entry.endswith(".idx"):
            continue
        base = os.path.join(folder, entry[:-4])
        with open(base + ".idx", "rb") as file, _mapped(file.fileno()) as index:
            place = _place(index, bytes.fromhex(name))
        if place is not None:
            with open(base + ".pack", "rb") as file, _mapped(file.fileno()) as pack:
                return Pack(pack, base).blob(place)
    return None


def _mapped(descriptor: int) -> mmap.mmap:
    return mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ)


def _place(index: mmap.mmap, name: bytes) -> int | None:
    """Where in its pack the object of that name is."""
    if index[:8] != b"\xfftOc\0\0\0\2":
        return None
    first = 0 if name[0] == 0 else struct.unpack_from(">I", index, 8 + (name[0] - 1) * 4)[0]
    last: int = struct.unpack_from(">I", index, 8 + name[0] * 4)[0]
    count: int = struct.unpack_from(">I", index, 8 + 255 * 4)[0]
    names = 8 + 1024
    while first < last:
        middle = (first + last) // 2
        here = index[names + middle * 20 : names + middle * 20 + 20]
        if here == name:
            offsets = names + count * 24
            place: int = struct.unpack_from(">I", index, offsets + middle * 4)[0]
            if place & 0x80000000:
                large = offsets + count * 4 + (place & 0x7FFFFFFF) * 8
                place = struct.unpack_from(">Q", index, large)[0]
            return place
        first, last = (middle + 1, last) if here < name else (first, middle)
    return None


class Pack:
    def __init__(self, data: mmap.mmap, base: str) -> None:
        self._data = data
        self._base = base

    def blob(self, place: int) -> bytes | None:
        """The object there, put together from what it is a change of."""
        deltas: list[bytes] = []
        while len(deltas) <= DEEPEST_DELTA:
            kind, at = self._head(place)
            if kind == OFFSET_DELTA:
                back, at = _offset(self._data, at)
                deltas.append(self._inflated(at))
                place -= back
            elif kind == NAMED_DELTA:
                name = self._data[at : at + 20]
                deltas.append(self._inflated(at + 20))
                with open(self._base + ".idx", "rb") as file, _mapped(file.fileno()) as index:
                    found = _place(index, name)
                if found is None:
                    return None
                place = found
            else:
                content = self._inflated(at) if kind == BLOB else None
                for delta in reversed(deltas):
                    content = None if content is None else _applied(content, delta)
                return content
        return None

    def _head(self, at: int) -> tuple[int, int]:
        byte = self._data[at]
        kind = byte >> 4 & 7
        while byte & 0x80:
            at += 1
            byte = self._data[at]
        return kind, at + 1

    def _inflated(self, at: int) -> bytes:
        inflate = zlib.decompressobj()
        content = inflate.decompress(self._data[at : at + OBJECT_BYTES * 2], OBJECT_BYTES + 1)
        if len(content) > OBJECT_BYTES:
            raise ValueError("too large")
        return content


def _applied(base: bytes, delta: bytes) -> bytes:
    _, at = _size(delta, 0)
    size, at = _size(delta, at)
    if size > OBJECT_BYTES:
        raise ValueError("too large")
    pieces = []
    while at < len(delta):
        command = delta[at]
        at += 1
        if not command & 0x80:
            pieces.append(delta[at : at + command])
            at += command
            continue
        numbers = [0, 0]
        for which, bits in ((0, range(4)), (1, range(4, 7))):
            for n, bit in enumerate(bits):
                if command & 1 << bit:
                    numbers[which] |= delta[at] << 8 * n
                    at += 1
        start, length = numbers[0], numbers[1] or 0x10000
        pieces.append(base[start : start + length])
    return b"".join(pieces)


def _size(data: bytes, at: int) -> tuple[int, int]:
    size = shift = 0
    while True:
        byte = data[at]
        at += 1
        size |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            return size, at


def _offset(data: mmap.mmap, at: int) -> tuple[int, int]:
    byte = data[at]
    value = byte & 0x7F
    while byte & 0x80:
        at += 1
        byte = data[at]
        value = (value + 1) << 7 | byte & 0x7F
    return value, at + 1


def _varint(data: bytes, at: int) -> tuple[int, int]:
    byte = data[at]
    value = byte & 0x7F
    while byte & 0x80:
        at += 1
        byte = data[at]
        value = (value + 1) << 7 | byte & 0x7F
    return value, at + 1
