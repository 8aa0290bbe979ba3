"""`python -m bench.long_session FILE 10000`: a session of that many messages, for `make page-bench`.

Made in the database itself: by prompts it would take an hour, as each one tells the model all.
"""

import argparse
import sys
from pathlib import Path

import uvloop

from bench.talk import Deaf, message_of, said, session_of
from tenuto.core.value import SessionId
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
    session = session_of(f"ses_of{length}", f"{length:,} messages")
    messages = [
        message_of(session, n, (QUESTION if n % 2 == 0 else ANSWER).format(n=n))
        for n in range(length)
    ]
    events = [event for message in messages for event in said(message)]
    store = SqliteStore(path, Deaf())
    await store.open()
    await store.create_session(session, events, [m for m in messages if m.role == "assistant"])
    await store.close()
    return session.id


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.long_session", description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("length", type=int)
    options = parser.parse_args()
    sys.stdout.write(uvloop.run(add(options.file, options.length)) + "\n")


if __name__ == "__main__":
    main()
