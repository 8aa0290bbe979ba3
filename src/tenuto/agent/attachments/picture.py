"""Pictures, known by their bytes: names and media types are only claims."""

from tenuto.core.value import Value

MOST_SEGMENTS = 10_000
"""Of a JPEG, before its size: real ones have some dozens."""
_SIZES = frozenset({*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC})
"""Segments that tell the size."""
_BARE = frozenset({0x01, *range(0xD0, 0xD9)})
"""Segments without a length."""


class Picture(Value):
    media_type: str
    width: int
    height: int


def picture(content: bytes) -> Picture | None:
    """What it is, by its head; None if it is none of those that models see, or broken."""
    if content.startswith(b"\x89PNG\r\n\x1a\n") and content[12:16] == b"IHDR":
        return _sized("image/png", _big(content[16:20]), _big(content[20:24]))
    if content.startswith((b"GIF87a", b"GIF89a")):
        return _sized("image/gif", _little(content[6:8]), _little(content[8:10]))
    if content.startswith(b"\xff\xd8\xff"):
        return _jpeg(content)
    if content.startswith(b"RIFF") and content[8:12] == b"WEBP":
        return _webp(content)
    return None


def _jpeg(content: bytes) -> Picture | None:
    place = 2
    for _ in range(MOST_SEGMENTS):
        if content[place : place + 1] != b"\xff" or place + 4 > len(content):
            return None
        kind = content[place + 1]
        if kind == 0xFF:
            place += 1
        elif kind in _BARE:
            place += 2
        elif kind in _SIZES:
            height, width = content[place + 5 : place + 7], content[place + 7 : place + 9]
            return _sized("image/jpeg", _big(width), _big(height))
        else:
            place += 2 + _big(content[place + 2 : place + 4])
    return None


def _webp(content: bytes) -> Picture | None:
    match content[12:16]:
        case b"VP8X":
            width, height = _little(content[24:27]) + 1, _little(content[27:30]) + 1
        case b"VP8L":
            bits = _little(content[21:25])
            width, height = (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case b"VP8 ":
            width, height = _little(content[26:28]) & 0x3FFF, _little(content[28:30]) & 0x3FFF
        case _:
            return None
    return _sized("image/webp", width, height) if len(content) >= 30 else None


def _sized(media_type: str, width: int, height: int) -> Picture | None:
    return Picture(media_type=media_type, width=width, height=height) if width and height else None


def _big(given: bytes) -> int:
    return int.from_bytes(given, "big")


def _little(given: bytes) -> int:
    return int.from_bytes(given, "little")
