"""`python -m bench.long_session FILE 10000`: a session of that many messages, for `make page-bench`.

Made in the database itself: by prompts it would take an hour, as each one tells the model all.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import uvloop

from bench.growth import Deaf
from tenuto.clock import SystemClock
from tenuto.core.event import Event, MessageFinished, MessageStarted, PartStarted
from tenuto.core.message import Message, TextPart
from tenuto.core.session import DEFAULT_WORKSPACE, Session, TitleSource
from tenuto.core.value import MessageId, PartId, SessionId
from tenuto.storage.sqlite import SqliteStore

QUESTION = "Question {n}: how would you write this, and what would you look out for?"
ANSWER = """Answer {n}. It depends on **what you measure**, and there are two ways:

- the plain one, with a list
- the quick one, with a `dict`

```python
def count(words: list[str]) -> dict[str, int]:
    found: dict[str, int] = {{}}
    for word in words:
        found[word] = found.get(word, 0) + {n}
    return found
```

The second one is what most people would take, as it reads every word once and no more."""


async def add(path: Path, length: int) -> SessionId:
    now = SystemClock().now()
    session = Session(
        id=SessionId(f"ses_of{length}"),
        workspace_id=DEFAULT_WORKSPACE,
        title=f"{length:,} messages",
        title_source=TitleSource.USER,
        created_at=now,
        updated_at=now,
    )
    messages = [_message(session, n) for n in range(length)]
    events = [event for message in messages for event in _said(message)]
    store = SqliteStore(path, Deaf())
    await store.open()
    await store.create_session(session, events, [m for m in messages if m.role == "assistant"])
    await store.close()
    return session.id


def _message(session: Session, n: int) -> Message:
    words = (QUESTION if n % 2 == 0 else ANSWER).format(n=n)
    return Message(
        id=MessageId(f"msg_{session.id}_{n}"),
        session_id=session.id,
        run_id=None,
        role="user" if n % 2 == 0 else "assistant",
        parts=(TextPart(id=PartId(f"prt_{session.id}_{n}"), text=words),),
        finish_reason="end_turn",
        created_at=session.created_at,
    )


def _said(message: Message) -> Iterator[Event]:
    session_id, at = message.session_id, message.created_at
    if message.role == "user":
        yield MessageStarted(session_id=session_id, at=at, message=message)
        return
    empty = Message(
        id=message.id, session_id=session_id, run_id=None, role="assistant", created_at=at
    )
    yield MessageStarted(session_id=session_id, at=at, message=empty)
    yield PartStarted(session_id=session_id, at=at, message_id=message.id, part=message.parts[0])
    yield MessageFinished(
        session_id=session_id, at=at, message_id=message.id, finish_reason="end_turn"
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.long_session", description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("length", type=int)
    options = parser.parse_args()
    sys.stdout.write(uvloop.run(add(options.file, options.length)) + "\n")


if __name__ == "__main__":
    main()
