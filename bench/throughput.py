"""(a) Tokens per second through Tenuto, beside the same streams read without it."""

from bench.processes import Reader, Tenuto
from bench.table import Figure, ratio

SIZES = ((1, 20_000), (20, 5_000), (100, 2_000), (400, 500))
AIM_RUNS = 100
SDK_SHARE = 0.1
"""The SDK is slow enough that a tenth of the tokens tells its speed."""


def measure(server: Tenuto, model_port: int) -> list[Figure]:
    figures = []
    for runs, tokens in SIZES:
        bare = _speed("bare", model_port, runs, tokens)
        busy = server.cpu_seconds()
        through = _speed("tenuto", server.port, runs, tokens)
        busy = server.cpu_seconds() - busy
        sdk = _speed("sdk", model_port, runs, max(20, int(tokens * SDK_SHARE)))
        figures += [
            Figure(
                name=f"tokens/s, {runs} runs",
                value=through.speed,
                unit="tokens/s",
                beside={"bare socket": bare.speed, "openai SDK": sdk.speed},
                ratios={
                    "of bare": ratio(through.speed, bare.speed),
                    "of SDK": ratio(through.speed, sdk.speed),
                },
                aim=">= 3x the SDK, >= 0.25 of bare" if runs == AIM_RUNS else "",
                met=_is_fast(through, bare, sdk) if runs == AIM_RUNS else None,
                note=f"server CPU {busy / through.seconds:.2f} cores, {_bound(through)}",
            )
        ]
    return figures


def _is_fast(through: "_Speed", bare: "_Speed", sdk: "_Speed") -> bool:
    return through.speed >= 3 * sdk.speed and through.speed >= 0.25 * bare.speed


class _Speed:
    def __init__(self, result: dict[str, float]) -> None:
        self.seconds = result["seconds"]
        self.speed = result["tokens"] / result["seconds"]
        self.busy = result["busy"]


def _speed(kind: str, port: int, runs: int, tokens: int) -> _Speed:
    return _Speed(Reader(kind, port, runs=runs, tokens=tokens).go().result())


def _bound(through: _Speed) -> str:
    return "the reader is the bound" if through.busy > 0.9 else f"reader {through.busy:.0%} busy"
