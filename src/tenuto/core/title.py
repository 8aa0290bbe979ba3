"""The title that a session has before anyone found a better one."""

from tenuto.core.desk import Desk, Moment
from tenuto.core.event import Event, SessionUpdated
from tenuto.core.run import Input, InputText, Run
from tenuto.core.session import SessionChanges, TitleSource

TITLE_LENGTH = 60


def first_title(desk: Desk, run: Run, moment: Moment) -> tuple[Event, ...]:
    """A title from the prompt's first words, if the session has none."""
    session = desk.session
    title = provisional_title(run.input)
    if session.title or session.title_source is not TitleSource.PROVISIONAL or not title:
        return ()
    changes = SessionChanges(title=title, title_source=TitleSource.PROVISIONAL)
    return (SessionUpdated(session_id=session.id, at=moment.now, by=moment.by, changes=changes),)


def provisional_title(given: Input) -> str:
    """The first words of a prompt."""
    items = [InputText(text=given)] if isinstance(given, str) else given
    words = " ".join(item.text for item in items if isinstance(item, InputText)).split()
    title = ""
    for word in words:
        if len(title) + len(word) > TITLE_LENGTH:
            return (title or word[:TITLE_LENGTH]).strip() + "…"
        title = f"{title} {word}".strip()
    return title
