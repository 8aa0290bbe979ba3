"""The rows of a change as the columns that `tenuto_write_1` takes."""

import random
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple
from uuid import UUID

import msgspec

from tenuto.core.comparison import Comparison
from tenuto.core.event import store_as
from tenuto.core.value import NodeId
from tenuto.ports.query import Once
from tenuto.storage.once import first
from tenuto.storage.postgres.connections import storable
from tenuto.storage.postgres.indexing import vectors
from tenuto.storage.statements import TITLE, Rows, encode

NEW = -1
"""The rev of what is not there yet."""
SLOTS = 16
"""Rows over which one day's usage of a model is spread."""


class Guard(NamedTuple):
    """What was decided on: the session's rev, and its head if events are to be stored."""

    rev: int
    head: int | None


class Judged(NamedTuple):
    """A comparison as it is to be, and the rev that was decided on."""

    comparison: Comparison
    rev: int


class Remembered(NamedTuple):
    """A request that may come twice, and its result."""

    once: Once
    owner: str | None
    result: object

    def columns(self) -> tuple[list[str | None], bytes]:
        once = self.once
        key = [once.by, once.key, once.digest, once.at, self.owner]
        return [storable(one) for one in key], first(once, self.owner, self.result).body


def remember(once: Once | None, owner: str | None, result: object) -> Remembered | None:
    return None if once is None else Remembered(once, owner, result)


class _Op(NamedTuple):
    op: str
    s: str
    i: str | None = None
    a: int | None = None
    b: int | None = None
    x: str | None = None
    y: str | None = None
    body: bytes | None = None


def values_of(
    token: UUID,
    changes: Sequence[tuple[Rows, Guard]],
    *,
    remembered: Remembered | None = None,
    judged: Judged | None = None,
    dead: NodeId | None = None,
) -> list[Any]:
    """The arguments of a write, in their order."""
    key, answer = (None, None) if remembered is None else remembered.columns()
    ops = [op for rows, _ in changes for op in _ops(rows)]
    usage = [row._asdict() for rows, _ in changes for row in rows.usage]
    claimed = list(dict.fromkeys(file for rows, _ in changes for file in rows.claimed))
    return [
        token,
        dead,
        key,
        answer,
        *_columns([_session(rows, guard) for rows, guard in changes], 14),
        *_comparison(judged),
        *_columns(ops, len(_Op._fields)),
        claimed,
        _usage(usage) if usage else None,
        random.randrange(SLOTS),
    ]


def _session(rows: Rows, guard: Guard) -> tuple[Any, ...]:
    log, session = rows.log, rows.session
    stays = (None,) * 5 if session is None else session[2:]
    archived, comparison_id, updated_at, body, control = stays
    return (
        log.stream,
        guard.rev,
        guard.head,
        log.head,
        log.active_run,
        log.epoch,
        log.owner,
        log.deleted_at,
        rows.workspace_id,
        archived,
        comparison_id,
        updated_at,
        body,
        control,
    )


def _comparison(judged: Judged | None) -> tuple[Any, ...]:
    if judged is None:
        return (None,) * 6
    one = judged.comparison
    voted_at = one.vote.at if one.vote else None
    return one.id, judged.rev, one.workspace_id, one.created_at, voted_at, encode(one)


def _ops(rows: Rows) -> Iterator[_Op]:
    stream = rows.log.stream
    for event in rows.events:
        yield _Op("event", stream, a=event.seq, x=event.type, y=event.run_id, body=event.body)
    for message_id in rows.removed:
        yield _Op("removed", stream, message_id)
    for file_id in rows.files:
        yield _Op("file", stream, file_id)
    for new in rows.new_runs:
        s, i, number, at, seq, status, body = new
        yield _Op("new_run", s, i, a=number, b=seq, x=at, y=status, body=body)
    for s, i, state, body in rows.changed_runs:
        yield _Op("run", s, i, y=state, body=body)
    for s, i, seq, role, run_id, body, open in rows.new_messages:
        yield _Op("new_message", s, i, a=seq, b=int(open), x=role, y=run_id, body=body)
    for s, i, body in rows.whole_messages:
        yield _Op("message", s, i, body=body)
    for s, i, last, at in rows.unfolded:
        yield _Op("unfolded", s, i, a=last, x=at)
    for s, kind, i, seq, open, body in rows.things:
        yield _Op("thing", s, i, a=seq, b=int(open), x=kind, body=body)
    for s, seq, through, part, summary in rows.summaries:
        yield _Op("summary", s, through, a=seq, x=part, body=summary.encode())
    yield from _words(rows)
    for shared in (store_as(event, 0) for event in rows.shared):
        yield _Op("shared", stream, x=shared.type, y=shared.run_id, body=shared.body)


def _words(rows: Rows) -> Iterator[_Op]:
    for s, message_id, text in rows.texts:
        if message_id == TITLE:
            yield _Op("retitled", s, TITLE)
        for n, vector in enumerate(vectors(text)):
            yield _Op("words", s, message_id, a=n, x=vector)


def _usage(usage: list[dict[str, Any]]) -> str:
    named = [{**row, "model": storable(row["model"])} for row in usage]
    return msgspec.json.encode(named).decode()


def _columns(rows: Sequence[tuple[Any, ...]], width: int) -> list[list[Any]]:
    return [list(column) for column in zip(*rows, strict=True)] if rows else [[]] * width
