"""Reading a message out of its log, and making a finished one's log shorter."""

from collections.abc import Iterable, Sequence

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from tenuto.core.event import PartDelta, PartField, PartStarted, PartUpdated, Stored, store_as
from tenuto.core.message import Message
from tenuto.core.projection import OpenMessage, grow
from tenuto.core.value import MessageId, PartId, Value


class Shortened(Value):
    """What is left of a message's deltas."""

    merged: tuple[Stored, ...]
    """Each takes the place of the event with its seq."""
    gone: tuple[int, ...]
    """Seqs of deltas that are inside a merged one now."""


def grown(message: Message, log: Iterable[Stored]) -> Message:
    """The open message with every part that its log has so far."""
    growing = OpenMessage(message)
    for stored in log:
        event = stored.event()
        match event:
            case PartStarted() | PartDelta() | PartUpdated() if event.message_id == message.id:
                grow(growing, event)
    return growing.now()


def shorten(message_id: MessageId, log: Sequence[Stored]) -> Shortened:
    """Join the deltas of each part of a finished message; the fold stays the same.

    An update may say anew what has grown, so deltas are never joined across one.
    """
    merged: list[Stored] = []
    gone: list[int] = []
    for group in _groups(message_id, log):
        (_, first), (last_seq, last) = group[0], group[-1]
        if len(group) == 1:
            continue
        text = "".join(delta.text for _, delta in group)
        merged.append(store_as(replace(last, offset=first.offset, text=text), last_seq))
        gone += [seq for seq, _ in group[:-1]]
    return Shortened(merged=tuple(merged), gone=tuple(gone))


_Group = list[tuple[int, PartDelta]]


def _groups(message_id: MessageId, log: Sequence[Stored]) -> list[_Group]:
    groups: list[_Group] = []
    growing: dict[tuple[PartId, PartField | UnsetType], _Group] = {}
    for stored in log:
        event = stored.event()
        match event:
            case PartDelta() if event.message_id == message_id:
                key = event.part_id, event.field
                if key not in growing:
                    growing[key] = []
                    groups.append(growing[key])
                growing[key].append((stored.seq, event))
            case PartUpdated() if event.message_id == message_id:
                for field in (UNSET, *PartField):
                    growing.pop((event.part.id, field), None)
    return groups
