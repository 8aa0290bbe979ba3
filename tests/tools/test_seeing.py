"""What is no text can still be read: images are shown, PDFs are read out."""

import pytest

from tenuto.ports.tool import GivenFile
from tests.agent.test_pdf import page, paper
from tests.strict.pictures import png
from tests.tools.desk import Desk

pytestmark = pytest.mark.anyio


async def test_an_image_is_given_to_be_seen_whatever_its_name(desk: Desk) -> None:
    (desk.folder / "sub").mkdir()
    (desk.folder / "sub" / "plot.txt").write_bytes(png(3, 2))
    result = await desk.result("read_file", path="sub/plot.txt")
    assert result.text == "sub/plot.txt: an image of 3 × 2 pixels."
    seen = GivenFile(name="plot.txt", media_type="image/png", content=png(3, 2))
    assert result.files == (seen,)


async def test_a_broken_or_too_large_image_is_only_a_binary_file(desk: Desk) -> None:
    (desk.folder / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    assert await desk.failure("read_file", path="broken.png") == (
        "broken.png is a binary file of 10 bytes."
    )
    (desk.folder / "large.png").write_bytes(png(3, 2) + bytes(20_000_000))
    assert "is a binary file of 20," in await desk.failure("read_file", path="large.png")


async def test_a_text_that_begins_like_an_image_is_a_text(desk: Desk) -> None:
    (desk.folder / "riff.txt").write_text("RIFF is a format")
    assert await desk.run("read_file", path="riff.txt") == "     1\tRIFF is a format"


async def test_a_pdf_is_read_out_line_by_line(desk: Desk) -> None:
    (desk.folder / "a.pdf").write_bytes(paper(page("Hello there"), page("And on")))
    said = await desk.run("read_file", path="a.pdf")
    assert "Hello there" in said
    assert "And on" in said
    assert said.startswith("     1\t")
    rest = await desk.run("read_file", path="a.pdf", offset=2)
    assert rest.startswith("     2\t")
