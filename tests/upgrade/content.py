"""A database with something of everything in it."""

from msgspec.structs import replace

from tenuto.core import comparison as judging
from tenuto.core.approval import Decision
from tenuto.core.comparison import Comparison, Pane
from tenuto.core.desk import Moment
from tenuto.core.file import FileInfo
from tenuto.core.message import ReasoningPart, ToolState
from tenuto.core.run import (
    Ending,
    InputFile,
    InputText,
    Mode,
    OnDisconnect,
    Reason,
    RunError,
    RunStatus,
    Usage,
    WhenBusy,
)
from tenuto.core.session import DEFAULT_WORKSPACE
from tenuto.core.value import ComparisonId, FileId, PartId, SessionId
from tenuto.ports.store import Store
from tests.conformance.driven import START, DrivenSession, fork_of, make_workspace, new_session

PAID = Usage(input_tokens=120, output_tokens=30, reasoning_tokens=4, cost_usd=0.0125)


async def fill(store: Store) -> None:
    """Everything that can be in a log or a row, at least once."""
    await make_workspace(store)
    await make_workspace(store, "wsp_other")
    await _talk(store)
    await _endings(store)
    await _open(store)
    await _compare(store)
    await store.keep("settings", b'{"titles":false}', rev=0)


async def _talk(store: Store) -> None:
    info = FileInfo(
        id=FileId("fil_a"), name="a.txt", media_type="text/plain", size=3, created_at=START
    )
    await store.put_file(info, b"abc")
    driven = await DrivenSession.begin(store, "talk", title="Tides", system="Be brief.")
    given = [
        InputText(text="look 🌊"),
        InputFile(file_id=info.id, name="a.txt", media_type="text/plain", size=3),
    ]
    await driven.accept(given)  # type: ignore[arg-type]
    await driven.start()
    await driven.begin_part(ReasoningPart(id=PartId("prt_think")))
    await driven.go_on_saying("hm, ", "yes", part="prt_think")
    tool = await driven.call_tool()
    approval = await driven.ask(tool)
    await driven.answer(approval, Decision.ALLOW_SESSION)
    await driven.update_part(replace(tool, state=ToolState.DONE, output="a\nb"))
    await driven.say("The ", "moon 🌕.")
    await driven.accept("and steer", when_busy=WhenBusy.STEER)
    await driven.steer()
    await driven.say("Done.", part="prt_after")
    await driven.settle(Ending(status=RunStatus.COMPLETED, reason=Reason.END_TURN, usage=PAID))
    await driven.update(pinned=True, draft="half a th")
    await driven.turn("undo me", "gone")
    await driven.undo()
    messages = (await store.snapshot(driven.id)).messages
    await driven.compact(messages[-1].id, "What was said.")
    other = new_session("fork", title="Tides (fork)")
    await store.create_session(other, *fork_of(messages, other.id))


async def _endings(store: Store) -> None:
    driven = await DrivenSession.begin(store, "endings", workspace_id="wsp_other")
    for status, reason, error in (
        (RunStatus.FAILED, Reason.PROVIDER_ERROR, "the provider said no"),
        (RunStatus.FAILED, Reason.TOO_LARGE, "it grew too large"),
        (RunStatus.INTERRUPTED, Reason.SERVER_CRASHED, None),
        (RunStatus.COMPLETED, Reason.MAX_TOKENS, None),
    ):
        await driven.accept(f"end {reason}")
        await driven.start()
        await driven.say("partial", part=f"prt_{reason}")
        told = RunError(code=str(reason), message=error) if error else None
        await driven.settle(Ending(status=status, reason=reason, error=told))  # type: ignore[arg-type]
    await driven.accept("cancelled")
    await driven.start()
    await driven.call_tool(part="prt_cut")
    await driven.accept("never ran")
    await driven.cancel()
    await driven.settle()
    gone = await driven.accept("taken back")
    await driven.withdraw(gone.id)


async def _open(store: Store) -> None:
    driven = await DrivenSession.begin(store, "open")
    await driven.accept("first")
    await driven.start()
    await driven.say("half an ans")
    await driven.ask(await driven.call_tool(part="prt_ask"), name="apr_open")
    await driven.accept("second", mode=Mode.CHAT)
    await driven.accept("third", on_disconnect=OnDisconnect.CANCEL)


async def _compare(store: Store) -> None:
    for name, voted in (("voted", True), ("blind", False)):
        panes = tuple(
            Pane(session_id=SessionId(f"ses_{name}{n}"), model=f"lab/{n}") for n in range(2)
        )
        made = await store.create_comparison(
            Comparison(
                id=ComparisonId(f"cmp_{name}"),
                workspace_id=DEFAULT_WORKSPACE,
                mode=Mode.CHAT,
                blind=True,
                created_at=START,
                panes=panes,
            )
        )
        sessions = [DrivenSession(store, pane.session_id) for pane in panes]
        for driven in sessions:
            await driven.turn("which is best", "me")
        if voted:
            await _vote(store, made.id, sessions[0].moment())


async def _vote(store: Store, comparison_id: ComparisonId, moment: Moment) -> None:
    await store.judge(comparison_id, lambda one, desks: judging.vote(one, desks, 0, moment))
