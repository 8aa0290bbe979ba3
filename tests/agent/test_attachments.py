"""Attached files are what their bytes say, and no model is sent what it would refuse."""

import struct

import pytest

from tenuto.agent.attachments.fitting import FileLimits, fit
from tenuto.agent.attachments.picture import Picture, picture
from tenuto.ports.model import FileBlock, Model, ModelRequest, TextBlock, UserTurn

LIMITS = FileLimits(image_bytes=1000, image_pixels=800, total_bytes=5000, documents=True)


def png(width: int, height: int, *, length: int = 33) -> bytes:
    head = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", width, height)
    return head.ljust(length, b"\0")


def jpeg(width: int, height: int) -> bytes:
    exif = b"\xff\xe1" + struct.pack(">H", 2 + 300) + b"x" * 300
    frame = b"\xff\xc2" + struct.pack(">HBHH", 17, 8, height, width) + b"\0" * 10
    return b"\xff\xd8" + exif + b"\xff" + frame + b"\xff\xd9"


def gif(width: int, height: int) -> bytes:
    return b"GIF89a" + struct.pack("<HH", width, height) + b"\0" * 8


def webp(kind: bytes, tail: bytes) -> bytes:
    return b"RIFF\x20\0\0\0WEBP" + kind + b"\x10\0\0\0" + tail.ljust(14, b"\0")


@pytest.mark.parametrize(
    ("content", "media_type", "width", "height"),
    [
        (png(640, 480), "image/png", 640, 480),
        (jpeg(4000, 3000), "image/jpeg", 4000, 3000),
        (gif(12, 34), "image/gif", 12, 34),
        (webp(b"VP8X", b"\0\0\0\0" + b"\x7f\x02\0" + b"\xdf\x01\0"), "image/webp", 640, 480),
        (
            webp(b"VP8L", b"\x2f" + struct.pack("<I", 639 | 479 << 14)),
            "image/webp",
            640,
            480,
        ),
        (
            webp(b"VP8 ", b"\0\0\0\x9d\x01\x2a" + struct.pack("<HH", 640, 480)),
            "image/webp",
            640,
            480,
        ),
    ],
)
def test_a_picture_is_known_by_its_bytes(
    content: bytes, media_type: str, width: int, height: int
) -> None:
    assert picture(content) == Picture(media_type=media_type, width=width, height=height)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x89PNG\r\n\x1a\n",
        png(0, 9),
        jpeg(10, 10)[:200],
        b"\xff\xd8\xff\xe1\0\0" * 1000,
        b"\xff\xd8\xff",
        b"GIF89a\x01",
        webp(b"VP8X", b"")[:20],
        webp(b"XXXX", b""),
        b"BM" + b"\0" * 60,
    ],
)
def test_what_is_cut_off_or_something_else_is_no_picture(content: bytes) -> None:
    assert picture(content) is None


def model(*capabilities: str) -> Model:
    return Model(id="h/m", name="m", provider="h", context_window=9, capabilities=capabilities)


def fitted(*files: FileBlock, can: tuple[str, ...] = ("vision",)) -> list[TextBlock | FileBlock]:
    turns = tuple(UserTurn(blocks=(file,)) for file in files)
    request = fit(ModelRequest(model="m", system="", turns=turns), model(*can), LIMITS)
    return [block for turn in request.turns if isinstance(turn, UserTurn) for block in turn.blocks]


def one(name: str, content: bytes, media_type: str = "") -> FileBlock:
    return FileBlock(name=name, media_type=media_type, content=content)


def text(blocks: list[TextBlock | FileBlock]) -> str:
    assert isinstance(blocks[0], TextBlock)
    return blocks[0].text


@pytest.mark.parametrize("claimed", ["image/jpeg", "text/plain", "application/octet-stream", ""])
def test_a_wrong_media_type_is_put_right(claimed: str) -> None:
    [sent] = fitted(one("a.jpg", png(9, 9), claimed))
    assert sent == one("a.jpg", png(9, 9), "image/png")


@pytest.mark.parametrize("content", [png(9, 9, length=1001), png(801, 9), png(9, 801)])
def test_an_image_that_is_too_large_is_replaced_by_a_note(content: bytes) -> None:
    note = text(fitted(one("a.png", content)))
    assert note.startswith("[Image a.png (")
    assert "it takes 1 kB and 800 pixels a side. Attach a smaller one.]" in note


def test_what_is_no_image_after_all_is_replaced_by_a_note() -> None:
    note = text(fitted(one("a.heic", b"\0\0\0\x18ftypheic", "image/heic")))
    assert "Attach it as PNG, JPEG, GIF or WebP." in note


def test_only_the_newest_images_are_shown() -> None:
    files = [one(f"{n}.png", png(n + 1, 1)) for n in range(22)]
    blocks = fitted(*files)
    assert [isinstance(block, FileBlock) for block in blocks] == [False] * 2 + [True] * 20
    assert text(blocks) == "[Image 0.png was left out: only the newest ones are shown.]"


def test_all_together_are_no_larger_than_a_request_may_be() -> None:
    blocks = fitted(*[one("a.png", png(9, 9, length=900)) for _ in range(7)])
    assert [isinstance(block, FileBlock) for block in blocks] == [False] * 2 + [True] * 5


def test_a_pdf_goes_to_a_model_that_reads_them_and_to_no_other() -> None:
    pdf = one("a.pdf", b"%PDF-1.7\n\0\0", "application/octet-stream")
    assert fitted(pdf, can=("documents",)) == [one("a.pdf", pdf.content, "application/pdf")]
    assert isinstance(fitted(pdf)[0], TextBlock)
    large = one("b.pdf", b"%PDF-1.7\n\0".ljust(5001))
    assert "too large to be sent" in text(fitted(large, can=("documents",)))


def test_a_text_about_pdfs_is_no_pdf() -> None:
    told = text(fitted(one("a.py", b'if head == b"%PDF-":', "text/x-python"), can=("documents",)))
    assert told == '<file name="a.py">\nif head == b"%PDF-":\n</file>'


def test_of_a_long_text_only_the_beginning_is_told() -> None:
    content = ("ä" * 40_000).encode()
    told = text(fitted(one("long.txt", content, "text/plain")))
    assert told == (
        '<file name="long.txt">\n' + "ä" * 32_768 + "\n</file>\n"
        "[This was the first 66 kB of 80 kB.]"
    )


def test_a_cut_through_a_character_leaves_it_out() -> None:
    content = b"x" + ("ä" * 40_000).encode()
    told = text(fitted(one("long.txt", content)))
    assert "x" + "ä" * 32_767 + "\n</file>" in told


def test_the_rest_of_a_text_is_named_to_those_who_can_read_it() -> None:
    file = FileBlock(name="a.log", media_type="", content=b"y" * 100_000, id="fil_1")
    assert "The rest: read_file with path file:fil_1.]" in text(fitted(file))


def test_a_text_with_two_bytes_a_character_is_read() -> None:
    told = text(fitted(one("a.txt", "Grüße".encode("utf-16"), "text/plain")))
    assert told == '<file name="a.txt">\nGrüße\n</file>'
