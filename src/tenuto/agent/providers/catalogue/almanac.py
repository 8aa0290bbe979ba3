"""The book of what is generally known of models: the shipped one, or a newer one that was fetched."""

import logging
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from tenuto.agent.providers.catalogue.facts import MAKERS, Book, Facts, seller_at
from tenuto.core.value import Value

log = logging.getLogger(__name__)

SHIPPED = Path(__file__).with_name("models.json")
KEPT = "models.json"
"""A newer one, in the data folder's `models`."""

_SUFFIX = re.compile(r"(?:-\d{8}|-\d{4}-\d{2}-\d{2}|-\d{4}|-latest|-preview|:\w+|@\w+)$")
"""A name with one of these is, as far as we know, like the one without."""


class Almanac:
    """Read when it is first asked, so that a start does not wait for it."""

    def __init__(self, folder: Path | None = None) -> None:
        self._kept = folder / KEPT if folder else None
        self._book: Book | None = None

    @property
    def book(self) -> Book:
        if self._book is None:
            shipped = _read(SHIPPED)
            assert shipped is not None
            kept = _read(self._kept) if self._kept else None
            # After an update of the server its own may be the newer one.
            self._book = kept if kept and kept.made > shipped.made else shipped
        return self._book

    def forget(self) -> None:
        """Read it anew when it is next asked."""
        self._book = None

    def seller(self, base_url: str) -> "Seller":
        return Seller(almanac=self, name=seller_at(base_url))


class Seller(Value):
    """What is known of the models at one address."""

    almanac: Almanac
    name: str
    """Empty: nobody that we know."""

    def facts(self, model: str) -> Facts | None:
        """Of this model; from a stranger, what its maker says of it, but no price."""
        models = self.almanac.book.models
        if self.name:
            return next((f for n in _names(model) if (f := models[self.name].get(n))), None)
        for name in _names(model.rpartition("/")[2]):
            for maker in MAKERS:
                if found := models[maker].get(name):
                    return msgspec.structs.replace(found, price=None, only="")
        return None

    def is_mute(self, model: str) -> bool:
        """Whether it is known that this one cannot chat."""
        mute = self.almanac.book.mute
        if self.name:
            return _plain(model) in mute.get(self.name, ())
        return any(model.rpartition("/")[2] in mute.get(maker, ()) for maker in MAKERS)


def _names(model: str) -> Iterator[str]:
    """The names to look for, the most exact first."""
    name = _plain(model)
    yield name
    while (shorter := _SUFFIX.sub("", name)) != name:
        name = shorter
        yield name
    yield f"{name}-latest"


def _plain(model: str) -> str:
    return model.removeprefix("models/")


def _read(path: Path) -> Book | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Book)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        log.warning("what is known of models cannot be read: %s", error, extra={"path": str(path)})
        return None
