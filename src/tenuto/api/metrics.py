"""Counts for those who watch the server, as Prometheus text."""

from collections.abc import Callable, Iterable, Sequence

import msgspec
from prometheus_client import CollectorRegistry, Counter, Gauge, generate_latest
from prometheus_client.core import CounterMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from tenuto.core.event import RunFinished, Stored
from tenuto.core.value import StreamId


class _Tally(Collector):
    """A counter for the token path: a plain number, without the lock of a real one."""

    def __init__(self, name: str, meaning: str) -> None:
        self._name = name
        self._meaning = meaning
        self.count = 0

    def collect(self) -> Iterable[Metric]:
        yield CounterMetricFamily(self._name, self._meaning, value=self.count)


class Metrics:
    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._events = _Tally("tenuto_events", "Events stored in session logs.")
        self._registry.register(self._events)
        self._accepted = Counter("tenuto_runs_accepted", "Runs accepted.", registry=self._registry)
        self._ended = Counter(
            "tenuto_runs_ended",
            "Runs ended, by ending and reason.",
            ["status", "reason"],
            registry=self._registry,
        )
        self._requests = Counter(
            "tenuto_http_requests", "HTTP requests, by status.", ["status"], registry=self._registry
        )
        self._decode = msgspec.json.Decoder(RunFinished).decode

    def gauge(self, name: str, meaning: str, read: Callable[[], float]) -> None:
        Gauge(f"tenuto_{name}", meaning, registry=self._registry).set_function(read)

    def committed(self, stream: StreamId, events: Sequence[Stored]) -> None:
        if not stream.startswith("ses_"):
            return
        self._events.count += len(events)
        for stored in events:
            if stored.type == "run.accepted":
                self._accepted.inc()
            elif stored.type == "run.finished":
                run = self._decode(stored.body).run
                self._ended.labels(run.status, run.reason).inc()

    def answered(self, status: int) -> None:
        self._requests.labels(status).inc()

    def text(self) -> bytes:
        return generate_latest(self._registry)
