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
from tests.conformance.life import START, Life, fork_of, make_workspace, new_session

PAID = Usage(input_tokens=120, output_tokens=30, reasoning_tokens=4, cost_usd=0.0125)


async def live(store: Store) -> None:
    """Everything that can be in a log or a row, at least once."""
    await make_workspace(store)
    await make_workspace(store, "wsp_other")
    await _talk(store)
    await _endings(store)
    await _open(store)
    await _compare(store)


async def _talk(store: Store) -> None:
    info = FileInfo(
        id=FileId("fil_a"), name="a.txt", media_type="text/plain", size=3, created_at=START
    )
    await store.put_file(info, b"abc")
    life = await Life.begin(store, "talk", title="Tides", system="Be brief.")
    given = [
        InputText(text="look 🌊"),
        InputFile(file_id=info.id, name="a.txt", media_type="text/plain", size=3),
    ]
    await life.accept(given)  # type: ignore[arg-type]
    await life.start()
    await life.begin_part(ReasoningPart(id=PartId("prt_think")))
    await life.go_on_saying("hm, ", "yes", part="prt_think")
    tool = await life.call_tool()
    approval = await life.ask(tool)
    await life.answer(approval, Decision.ALLOW_SESSION)
    await life.update_part(replace(tool, state=ToolState.DONE, output="a\nb"))
    await life.say("The ", "moon 🌕.")
    await life.accept("and steer", when_busy=WhenBusy.STEER)
    await life.steer()
    await life.say("Done.", part="prt_after")
    await life.settle(Ending(status=RunStatus.COMPLETED, reason=Reason.END_TURN, usage=PAID))
    await life.update(pinned=True, draft="half a th")
    await life.turn("undo me", "gone")
    await life.undo()
    messages = (await store.snapshot(life.id)).messages
    await life.compact(messages[-1].id, "What was said.")
    other = new_session("fork", title="Tides (fork)")
    await store.create_session(other, *fork_of(messages, other.id))


async def _endings(store: Store) -> None:
    life = await Life.begin(store, "endings", workspace_id="wsp_other")
    for status, reason, error in (
        (RunStatus.FAILED, Reason.PROVIDER_ERROR, "the provider said no"),
        (RunStatus.FAILED, Reason.TOO_LARGE, "it grew too large"),
        (RunStatus.INTERRUPTED, Reason.SERVER_CRASHED, None),
        (RunStatus.COMPLETED, Reason.MAX_TOKENS, None),
    ):
        await life.accept(f"end {reason}")
        await life.start()
        await life.say("partial", part=f"prt_{reason}")
        told = RunError(code=str(reason), message=error) if error else None
        await life.settle(Ending(status=status, reason=reason, error=told))  # type: ignore[arg-type]
    await life.accept("cancelled")
    await life.start()
    await life.call_tool(part="prt_cut")
    await life.accept("never ran")
    await life.cancel()
    await life.settle()
    gone = await life.accept("taken back")
    await life.withdraw(gone.id)


async def _open(store: Store) -> None:
    life = await Life.begin(store, "open")
    await life.accept("first")
    await life.start()
    await life.say("half an ans")
    await life.ask(await life.call_tool(part="prt_ask"), name="apr_open")
    await life.accept("second", mode=Mode.CHAT)
    await life.accept("third", on_disconnect=OnDisconnect.CANCEL)


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
        lives = [Life(store, pane.session_id) for pane in panes]
        for life in lives:
            await life.turn("which is best", "me")
        if voted:
            await _vote(store, made.id, lives[0].moment())


async def _vote(store: Store, comparison_id: ComparisonId, moment: Moment) -> None:
    await store.judge(comparison_id, lambda one, desks: judging.vote(one, desks, 0, moment))
