"""A run that grows: the model reads on and on, and each request begins as the last one did."""

from pathlib import Path

from tests.strict.cache import MarkedCache, PrefixCache, Read
from tests.strict.intent import Intent, Make, Say
from tests.strict.refusal import Refusal
from tests.strict.vendor import Vendor
from tests.support.model_server import Exchange

STEPS = 50
LINES = 160
LINE = "The quick brown fox jumps over lazy dogs, again."
FILE = "long.txt"


def write_file(folder: Path) -> None:
    """What is read: eight thousand characters in each step."""
    lines = (f"{n} {LINE}\n" for n in range(STEPS * LINES))
    (folder / FILE).write_text("".join(lines), encoding="utf-8")


class Growing:
    """Lets the model read the next stretch in each step, and counts what was cached."""

    def __init__(self, vendor: Vendor, *, steps: int = STEPS) -> None:
        self._vendor = vendor
        self._steps = steps
        self._cache = MarkedCache() if vendor.kind == "anthropic" else PrefixCache()
        self.reads: list[Read] = []
        self.refused: list[Refusal] = []

    @property
    def share(self) -> float:
        """Of all input, what was cached."""
        return sum(r.cached for r in self.reads) / max(sum(r.total for r in self.reads), 1)

    async def __call__(self, exchange: Exchange) -> None:
        vendor = self._vendor
        if refusal := vendor.judge(exchange.body, vendor.facts):
            self.refused.append(refusal)
            await exchange.answer(refusal.body, status=refusal.status)
            return
        read = self._cache.read(exchange.body)
        self.reads.append(read)
        speech = vendor.answer(self._next(), exchange.body, vendor.facts, read.cached)
        await exchange.raw(b"".join(speech.frames()))
        await exchange.end()

    def _next(self) -> Intent:
        step = len(self.reads)
        if step >= self._steps:
            return Intent((Say("Read."),))
        offset = (step - 1) * LINES + 1
        arguments = f'{{"path": "{FILE}", "offset": {offset}, "limit": {LINES}}}'
        return Intent((Say("On."), Make(f"call_{step}", "read_file", arguments)))
