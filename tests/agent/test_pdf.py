"""The text of PDFs, whatever is in them."""

import zlib

import pytest

from tenuto.agent.attachments.fitting import Attachments, FileLimits
from tenuto.agent.tools.processes import pdf as reading
from tenuto.agent.tools.processes.pdf import NO_TEXT, NOT_READ, Pdfs
from tenuto.ports.model import FileBlock, Model, ModelRequest, TextBlock, UserTurn

pytestmark = pytest.mark.anyio


def paper(*streams: bytes) -> bytes:
    """A PDF with one page for each of these; `<<…>>` before a stream's text says how it is packed."""
    kids = b" ".join(b"%d 0 R" % (4 + 2 * n) for n in range(len(streams)))
    things = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[%b]/Count %d>>" % (kids, len(streams)),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    for n, stream in enumerate(streams):
        packed = zlib.compress(stream, 9)
        things += [
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents %d 0 R"
            b"/Resources<</Font<</F1 3 0 R>>>>>>" % (5 + 2 * n),
            b"<</Length %d/Filter/FlateDecode>>stream\n%b\nendstream" % (len(packed), packed),
        ]
    made, places = b"%PDF-1.4\n", []
    for number, thing in enumerate(things, start=1):
        places.append(len(made))
        made += b"%d 0 obj\n%b\nendobj\n" % (number, thing)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    head = b"xref\n0 %d\n0000000000 65535 f \n%b" % (len(things) + 1, table)
    tail = b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF"
    return made + head + tail % (len(things) + 1, len(made))


def page(text: str) -> bytes:
    return f"BT /F1 24 Tf 72 720 Td ({text}) Tj ET".encode()


async def test_the_pages_of_a_pdf_are_read() -> None:
    text = await Pdfs().text(paper(page("Hello there"), page("Second")))
    assert text == "[Page 1 of 2]\nHello there\n[Page 2 of 2]\nSecond"


async def test_a_pdf_without_text_is_told_as_such() -> None:
    assert await Pdfs().text(paper(b"0 0 m 9 9 l S")) == NO_TEXT


@pytest.mark.parametrize("content", [b"%PDF-1.4 no more", b"%PDF-", b"%PDF-1.7\n" + b"\xff" * 5000])
async def test_a_broken_pdf_is_told_as_such(content: bytes) -> None:
    assert await Pdfs().text(content) == NOT_READ


async def test_one_that_swells_beyond_all_memory_is_told_as_such() -> None:
    swollen = paper(b"(" + b" " * 300_000_000)
    assert len(swollen) < 2_000_000
    assert await Pdfs().text(swollen) in (NOT_READ, NO_TEXT)


async def test_one_that_takes_too_long_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "SECONDS", 2.0)
    endless = b"BT /F1 9 Tf " + b"1 0 0 1 0 0 cm (x) Tj " * 2_000_000 + b"ET"
    assert (await Pdfs().text(paper(endless))).endswith("[The rest took too long to read.]")


async def test_a_long_pdf_is_cut() -> None:
    text = await Pdfs().text(paper(*[page("x" * 9000)] * 9))
    assert len(text) == 64 * 1024


async def test_each_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    pdfs, content = Pdfs(), paper(page("Hello"))
    said = await pdfs.text(content)
    monkeypatch.setattr(reading, "ask", None)
    assert await pdfs.text(bytes(content)) == said


@pytest.mark.parametrize("reads", [True, False])
async def test_only_a_model_that_does_not_take_pdfs_gets_their_text(reads: bool) -> None:
    file = FileBlock(name="a.pdf", media_type="application/pdf", content=paper(page("Hello")))
    turn = UserTurn(blocks=(TextBlock(text="Read it"), file))
    abilities = ("documents",) if reads else ("vision",)
    model = Model(id="h/m", name="m", provider="h", context_window=9, capabilities=abilities)
    fitted = await Attachments().fit(
        ModelRequest(model="m", system="", turns=(turn,)), model, FileLimits(documents=True)
    )
    text = '<file name="a.pdf">\n[Page 1 of 1]\nHello\n</file>'
    expected = file if reads else TextBlock(text=text)
    assert fitted.turns == (UserTurn(blocks=(TextBlock(text="Read it"), expected)),)
