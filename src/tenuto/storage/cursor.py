"""Places in a list, in a form that clients hand back without looking inside."""

import base64
import binascii

import msgspec

from tenuto.core.comparison import Comparison
from tenuto.core.error import InvalidInput
from tenuto.core.run import Run
from tenuto.core.session import Session

MOST_DIGITS = 18
"""So that it fits into what a database takes for a whole number."""

_decoder = msgspec.json.Decoder(tuple[str, str])


def session_cursor(last: Session) -> str:
    return _encode(last.updated_at, last.id)


def comparison_cursor(last: Comparison) -> str:
    return _encode(last.created_at, last.id)


def run_cursor(last: Run) -> str:
    return _encode(last.accepted_at, last.id)


def turn_cursor(last: Run) -> str:
    """In one session the order is that of acceptance, whatever the clock did."""
    return _encode(str(last.accept_number), last.id)


def turn(cursor: str) -> int:
    """The accept number that the last page of a session's runs ended with."""
    number, _ = place(cursor)
    if not (number.isascii() and number.isdigit() and len(number) <= MOST_DIGITS):
        raise InvalidInput("this cursor belongs to another list")
    return int(number)


def place(cursor: str) -> tuple[str, str]:
    """The instant and the id that the last page ended with. Raises InvalidInput."""
    try:
        return _decoder.decode(base64.urlsafe_b64decode(cursor.encode()))
    except (binascii.Error, msgspec.DecodeError, UnicodeError, ValueError) as error:
        raise InvalidInput("this cursor was not made by this server") from error


def _encode(at: str, id: str) -> str:
    return base64.urlsafe_b64encode(msgspec.json.encode((at, id))).decode()
