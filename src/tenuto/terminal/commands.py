"""The commands `run`, `attach` and `stop`, from a found server to an exit code."""

import asyncio
import os
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any

from tenuto.client import ApiError, Client, ConnectionLost, Patience
from tenuto.terminal.choosing import chosen_run, chosen_session
from tenuto.terminal.exits import ExitCode, Leave, refusal
from tenuto.terminal.following import Following
from tenuto.terminal.given import prompt_texts
from tenuto.terminal.leaving import Leaving
from tenuto.terminal.options import OnAsk, RunOptions, ViewOptions, read, view_options
from tenuto.terminal.out import note
from tenuto.terminal.prompting import LocalFile, Ready, check, local_files, prepare, send
from tenuto.terminal.viewer import Viewer
from tenuto.terminal.where import ServerAddress, find_server

HELLO_SECONDS = 3.0
"""A server that is not there at first is no server; one that was there is waited for longer."""
ACCEPT_SECONDS = 5.0
"""What a prompt that is on its way gets to be accepted when we are told to leave, so that its run
can be cancelled."""


def ended(work: Callable[[], Coroutine[Any, Any, ExitCode]]) -> ExitCode:
    """The exit code of what `work` makes ready outside of the loop, whatever happens."""
    try:
        return asyncio.run(work())
    except Leave as left:
        note(left.why)
        return left.code
    except ApiError as error:
        meant = refusal(error)
        note(meant.why)
        return meant.code
    except ConnectionLost as lost:
        note(f"the server does not answer: {lost}")
        return ExitCode.NO_SERVER


def run(said: Mapping[str, Any]) -> ExitCode:
    """One prompt, to its ending."""

    def work() -> Coroutine[Any, Any, ExitCode]:
        options = read(said, RunOptions)
        view = view_options(said, OnAsk.LEAVE if options.detach else OnAsk.DENY)
        check(options, view)
        address = find_server(said["url"], said["key"], os.environ, Path.cwd())
        files, texts = local_files(options.files), prompt_texts(options)
        return _run(address, options, view, texts, files)

    return ended(work)


async def _run(
    address: ServerAddress,
    options: RunOptions,
    view: ViewOptions,
    texts: list[str],
    files: list[LocalFile],
) -> ExitCode:
    leaving = Leaving()
    leaving.listen()
    ready = await leaving.unless_asked(_prepared(address, options, texts, files), grace_seconds=0.0)
    async with _client(address, view.patience) as tenuto:
        sending = send(tenuto, options, ready, view.on_ask)
        handle = await leaving.unless_asked(sending, grace_seconds=ACCEPT_SECONDS)
        viewer = Viewer(view)
        if options.detach:
            await viewer.print(handle.id)
            return ExitCode.DONE
        await viewer.say(f"run {handle.id} in session {ready.session_id}")
        return await Following(tenuto, handle, viewer, leaving, view).to_its_end()


async def _prepared(
    address: ServerAddress, options: RunOptions, texts: list[str], files: list[LocalFile]
) -> Ready:
    async with _client(address, HELLO_SECONDS) as tenuto:
        return await prepare(tenuto, options, texts, files)


def attach(said: Mapping[str, Any]) -> ExitCode:
    """Follow a run from anywhere."""

    def work() -> Coroutine[Any, Any, ExitCode]:
        address = find_server(said["url"], said["key"], os.environ, Path.cwd())
        view = view_options(said, OnAsk.WAIT)
        return _attach(address, said["what"], said["after"], view)

    return ended(work)


async def _attach(
    address: ServerAddress, what: str | None, after: int | None, view: ViewOptions
) -> ExitCode:
    leaving = Leaving()
    async with _client(address, HELLO_SECONDS) as tenuto:
        run_id = await chosen_run(tenuto, what)
    leaving.listen()
    async with _client(address, view.patience) as tenuto:
        handle = tenuto.run(run_id)
        viewer = Viewer(view)
        if after is not None:
            session_id = (await handle.get()).session_id
            viewer.answer.know((await tenuto.session(session_id).messages()).messages)
        await viewer.say(f"run {handle.id}")
        return await Following(tenuto, handle, viewer, leaving, view).to_its_end(after=after)


def stop(said: Mapping[str, Any]) -> ExitCode:
    """Cancel a run, or all that a session does."""

    def work() -> Coroutine[Any, Any, ExitCode]:
        address = find_server(said["url"], said["key"], os.environ, Path.cwd())
        return _stop(address, said["what"])

    return ended(work)


async def _stop(address: ServerAddress, what: str | None) -> ExitCode:
    async with _client(address, HELLO_SECONDS) as tenuto:
        session_id = await chosen_session(tenuto, what)
        if session_id is not None:
            cancelled = await tenuto.session(session_id).cancel()
            note(f"stopped {', '.join(cancelled.cancelled) or 'nothing: nothing ran'}")
            return ExitCode.DONE
        run_id = await chosen_run(tenuto, what)
        run = await tenuto.run(run_id).cancel()
        note(f"run {run.id} is {run.status}: {run.reason}")
        return ExitCode.DONE


def _client(address: ServerAddress, seconds: float) -> Client:
    return Client(address.url, address.key, patience=Patience(limit_seconds=seconds))
