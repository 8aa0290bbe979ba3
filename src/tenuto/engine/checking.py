"""Checking a prompt before it is accepted: its model, its words, its files."""

import re

from msgspec.structs import replace

from tenuto.core import editing
from tenuto.core.accepting import Prompt
from tenuto.core.error import InvalidInput, ModelNotFound, NotFound
from tenuto.core.options import NO_WISH, Wish
from tenuto.core.principal import Principal
from tenuto.core.run import Input, InputFile, InputText, Mode, OnDisconnect, OnInterrupt, WhenBusy
from tenuto.core.session import Session
from tenuto.core.value import RunId, SessionId, Value
from tenuto.engine.node import Node
from tenuto.ports.command import Commands, JoinedCommands
from tenuto.ports.model import Model, Models
from tenuto.ports.store import Store

_COMMAND = re.compile(r"/(?P<name>[A-Za-z0-9][\w.:-]{0,127})(?:\s+(?P<words>.*))?\s*\Z", re.DOTALL)


class Draft(Value):
    """A prompt as it comes in, before it is checked."""

    input: Input
    model: str | None = None
    """None: the session's, else the server's default."""
    mode: Mode | None = None
    """None: the comparison's for a pane of one, else an agent."""
    when_busy: WhenBusy = WhenBusy.QUEUE
    on_disconnect: OnDisconnect = OnDisconnect.CONTINUE
    on_interrupt: OnInterrupt = OnInterrupt.STOP
    wish: Wish = NO_WISH


class Checking:
    def __init__(
        self, store: Store, models: Models, node: Node, commands: Commands | None = None
    ) -> None:
        self._store = store
        self._models = models
        self._node = node
        self._commands = commands or JoinedCommands()

    async def prompt(self, session_id: SessionId, draft: Draft, *, by: Principal) -> Prompt:
        """The prompt that this becomes. Raises what accepting it would raise now."""
        prompt = await self.unsaid(session_id, draft, by=by)
        try:
            given = await self.input(draft.input, by=by)
            meaning = await self.meaning(session_id, given, prompt.mode)
            return replace(prompt, input=given, expanded=meaning)
        except InvalidInput:
            # A file that is gone may have gone with its session, since we looked at that.
            await self._store.seen_by(by).session(session_id)
            raise

    async def unsaid(self, session_id: SessionId, draft: Draft, *, by: Principal) -> Prompt:
        """The same without a look at its words: it may have none of its own."""
        session = await self._store.seen_by(by).session(session_id)
        default = session.comparison.mode if session.comparison else Mode.AGENT
        return Prompt(
            run_id=RunId(self._node.ids.new("run")),
            by=by.id,
            input=draft.input,
            model=(await self._model(session, draft.model)).id,
            mode=draft.mode or default,
            when_busy=draft.when_busy,
            on_disconnect=draft.on_disconnect,
            on_interrupt=draft.on_interrupt,
            wish=draft.wish,
        )

    async def meaning(self, session_id: SessionId, given: Input, mode: Mode) -> str | None:
        """What the command means that the input begins with; None: with none of this folder."""
        found = _COMMAND.match(_first_text(given))
        if found is None or mode is not Mode.AGENT:
            return None
        session = await self._store.session(session_id)
        workspace = await self._store.workspace(session.workspace_id)
        if not await self._node.folders.has(workspace):
            return None
        folder = self._node.folders.path(workspace)
        words = (found["words"] or "").strip()
        return await self._commands.expand(workspace, folder, found["name"], words)

    async def input(self, given: Input, *, by: Principal) -> Input:
        """The input with its files described by us; a prompt must say or show something."""
        if isinstance(given, str):
            _must_say_something(given)
            return given
        if not any(isinstance(i, InputFile) or i.text.strip() for i in given):
            raise InvalidInput("input must not be empty")
        checked: list[InputText | InputFile] = []
        for item in given:
            if isinstance(item, InputText):
                _must_be_text(item.text)
                checked.append(item)
                continue
            try:
                info = await self._store.seen_by(by).file(item.file_id)
            except NotFound:
                raise InvalidInput(f"there is no file {item.file_id}") from None
            checked.append(
                InputFile(
                    file_id=info.id, name=info.name, media_type=info.media_type, size=info.size
                )
            )
        return checked

    async def _model(self, session: Session, wanted: str | None) -> Model:
        if session.comparison is None:
            return await self._models.find(wanted or session.model)
        if wanted is not None:
            # Not even its own: whoever may ask for one after the other finds out which it is.
            raise InvalidInput(editing.KEEPS_ITS_MODEL)
        if session.model is not None:
            return await self._models.find(session.model)
        veil = (await self._store.control(session.id)).veil
        if veil is None:
            # The vote came between our two looks.
            return await self._models.find((await self._store.session(session.id)).model)
        try:
            return await self._models.find(veil.model)
        except ModelNotFound:
            raise ModelNotFound("the model of this pane cannot be asked now") from None


def _first_text(given: Input) -> str:
    if isinstance(given, str):
        return given
    return next((item.text for item in given if isinstance(item, InputText)), "")


def _must_say_something(text: str) -> None:
    if not text.strip():
        raise InvalidInput("input must not be empty")
    _must_be_text(text)


def _must_be_text(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidInput("input is not valid Unicode text") from None
