"""Those who make a storm: they prompt, steer, interrupt and stop without a break."""

from random import Random

import anyio

from tenuto.client import ApiError, ConnectionLost, RunHandle, SessionHandle
from tenuto.core.run import WhenBusy
from tests.support.model_server import Exchange

# What the state of the session at that moment may forbid.
ALLOWED_REFUSALS = {"session_busy", "queue_full"}
DEEDS = {
    "queue": 6,
    "steer": 4,
    "interrupt": 1,
    "reject": 1,
    "cancel the session": 2,
    "cancel a run": 2,
    "take one back": 1,
}


class Actor:
    """Acts on one session. `accepted` is every prompt that was answered with a 202."""

    def __init__(self, session: SessionHandle, random: Random) -> None:
        self.session = session
        self.accepted: dict[str, str] = {}
        self.refused = 0
        self._random = random
        self._runs: list[RunHandle] = []
        self._count = 0

    async def act_until(self, over: anyio.Event) -> None:
        while not over.is_set():
            (deed,) = self._random.choices(list(DEEDS), list(DEEDS.values()))
            try:
                await self._do(deed)
            except ConnectionLost:
                # A session's cancel is not sent twice: it may have been done, or not.
                assert deed == "cancel the session", deed
            except ApiError as refusal:
                assert refusal.code in ALLOWED_REFUSALS, f"{deed}: {refusal}"
                self.refused += 1
            await anyio.sleep(self._random.uniform(0.01, 0.15))

    async def _do(self, deed: str) -> None:
        match deed:
            case "cancel the session":
                await self.session.cancel()
            case "cancel a run":
                await self._any_run().cancel()
            case "take one back":
                await self._any_run().withdraw()
            case when_busy:
                await self._prompt(WhenBusy(when_busy))

    async def _prompt(self, when_busy: WhenBusy) -> None:
        self._count += 1
        text = f"prompt {self._count} of {self.session.id}"
        run = await self.session.prompt(text, when_busy=when_busy)
        self.accepted[run.id] = text
        self._runs.append(run)

    def _any_run(self) -> RunHandle:
        """One of the newest, which may still be under way."""
        return self._random.choice(self._runs[-4:]) if self._runs else self._nobody()

    def _nobody(self) -> RunHandle:
        raise ApiError(409, "session_busy", "nothing was asked yet")


class Improviser:
    """A model that answers in words, in thoughts, with a tool, or breaks off."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self.hurry = False

    async def __call__(self, exchange: Exchange) -> None:
        if self.hurry:
            await exchange.say("Done.")
            return
        kind = self._random.choice(["words", "words", "thoughts", "tool", "break"])
        if kind == "thoughts":
            await exchange.reasoning("Hmm. ")
        for n in range(self._random.randrange(1, 40)):
            await exchange.text(f"word {n} 🌊 ")
            await anyio.sleep(self._random.uniform(0.0, 0.02))
        if kind == "break":
            await exchange.break_off()
            return
        if kind == "tool":
            await exchange.tool_call(0, "call_1", "list_files")
            await exchange.tool_input(0, "{}")
        await exchange.finish("tool_calls" if kind == "tool" else "stop")
