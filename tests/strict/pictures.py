"""Pictures and documents as providers look at them: the true kind, the size, how many pixels."""

import base64
import struct
import zlib
from dataclasses import dataclass
from typing import Any

MEGABYTE = 1024 * 1024


@dataclass(frozen=True)
class Picture:
    media_type: str
    """By its bytes; empty if they are of no kind that models take."""
    width: int
    height: int


def opened(data: Any) -> bytes | None:
    """None if this is no base64."""
    try:
        return base64.b64decode(data, validate=True)
    except (ValueError, TypeError):
        return None


def seen(content: bytes) -> Picture:
    """What is in these bytes."""
    try:
        return _seen(content)
    except (struct.error, IndexError):
        return Picture("", 0, 0)


def _seen(content: bytes) -> Picture:
    if content.startswith(b"\x89PNG\r\n\x1a\n"):
        return Picture("image/png", *struct.unpack(">II", content[16:24]))
    if content.startswith((b"GIF87a", b"GIF89a")):
        return Picture("image/gif", *struct.unpack("<HH", content[6:10]))
    if content.startswith(b"\xff\xd8\xff"):
        return Picture("image/jpeg", *_jpeg_size(content))
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return Picture("image/webp", *_webp_size(content))
    return Picture("", 0, 0)


def _jpeg_size(content: bytes) -> tuple[int, int]:
    at = 2
    while True:
        marker, length = content[at + 1], struct.unpack(">H", content[at + 2 : at + 4])[0]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", content[at + 5 : at + 9])
            return width, height
        at += 2 + length


def _webp_size(content: bytes) -> tuple[int, int]:
    if content[12:16] == b"VP8X":
        return 1 + int.from_bytes(content[24:27], "little"), 1 + int.from_bytes(
            content[27:30], "little"
        )
    if content[12:16] == b"VP8L":
        bits = int.from_bytes(content[21:25], "little")
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    width, height = struct.unpack("<HH", content[26:30])
    return width & 0x3FFF, height & 0x3FFF


def png(width: int = 2, height: int = 2, *, padding: int = 0) -> bytes:
    """A picture of one grey, with as many bytes more as are wanted."""
    rows = b"".join(b"\0" + b"\x80" * width for _ in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    more = _chunk(b"prIv", b"\0" * padding) if padding else b""
    body = (
        _chunk(b"IHDR", head) + more + _chunk(b"IDAT", zlib.compress(rows)) + _chunk(b"IEND", b"")
    )
    return b"\x89PNG\r\n\x1a\n" + body


def _chunk(kind: bytes, content: bytes) -> bytes:
    sum_of_it = struct.pack(">I", zlib.crc32(kind + content))
    return struct.pack(">I", len(content)) + kind + content + sum_of_it
