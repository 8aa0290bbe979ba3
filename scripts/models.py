"""Writes the shipped book of models from the newest LiteLLM package: `make models`.

Needs the package index and about 40 MB of it; neither a start of the server nor a test does.
"""

import io
import subprocess
import sys
import tempfile
import zipfile
from datetime import date
from pathlib import Path

import msgspec

from tenuto.agent.providers.catalogue import dataset
from tenuto.agent.providers.catalogue.almanac import SHIPPED
from tenuto.agent.providers.catalogue.facts import Book

PACKAGE = "litellm"
TABLE = "litellm/model_prices_and_context_window_backup.json"
NOTICE = SHIPPED.with_name("models.LICENSE")
ABOUT = """\
models.json is made from the table of models in {name}, by `make models`.
The licence of that table:

"""


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        wheel = _fetched(Path(folder))
        with zipfile.ZipFile(io.BytesIO(wheel.read_bytes())) as package:
            book = dataset.read(package.read(TABLE), made=str(date.today()))
            licence = next(n for n in package.namelist() if n.endswith("licenses/LICENSE"))
            words = package.read(licence).decode()
        name = "-".join(wheel.name.split("-")[:2])
    SHIPPED.write_bytes(text(book))
    NOTICE.write_text(ABOUT.format(name=name) + words, encoding="utf-8")


def text(book: Book) -> bytes:
    """A line for each model, so that a change can be read."""
    sellers = [
        f'"{seller}": {{\n' + ",\n".join(_line(name, facts) for name, facts in models.items()) + "}"
        for seller, models in book.models.items()
    ]
    mute = msgspec.json.encode(book.mute).decode().replace('],"', '],\n"')
    parts = [f'"made": "{book.made}"', f'"source": "{book.source}"']
    parts += ['"models": {' + ",\n".join(sellers) + "}", f'"mute": {mute}']
    return ("{" + ",\n".join(parts) + "}\n").encode()


def _line(name: str, facts: object) -> str:
    plain = msgspec.to_builtins(facts)
    if price := plain.get("price"):
        plain["price"] = {key: value for key, value in price.items() if value is not None}
    return msgspec.json.encode(name).decode() + ": " + msgspec.json.encode(plain).decode()


def _fetched(folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary"]
    subprocess.run([*command, ":all:", "--dest", str(folder), PACKAGE], check=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


if __name__ == "__main__":
    main()
