"""Exploring: one schedule after another, until the time or the schedules are used up."""

import gc
import multiprocessing
import queue
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tenuto.core.value import Value
from tests.sim.schedule import play
from tests.sim.script import draw

if TYPE_CHECKING:
    from multiprocessing.queues import Queue

COLLECT_EVERY = 100
TELL_EVERY_SECONDS = 1.0


class Told(Value):
    """What a worker has done since it last said so."""

    schedules: int
    steps: int
    events: int
    failed: tuple[tuple[int, str], ...]
    """Seeds, and what each found."""


def explore(seeds: Iterator[int], *, seconds: float, most: int) -> Iterator[Told]:
    """Play these seeds in this process; tell how it goes about once a second."""
    gc.collect()
    gc.freeze()
    gc.disable()
    end = time.monotonic() + seconds
    tell_at = time.monotonic() + TELL_EVERY_SECONDS
    schedules = steps = events = 0
    failed: list[tuple[int, str]] = []
    for count, seed in enumerate(seeds, start=1):
        verdict = play(draw(seed))
        schedules += 1
        steps += verdict.steps
        events += verdict.events
        if verdict.violation is not None:
            failed.append((seed, verdict.violation))
        if count % COLLECT_EVERY == 0:
            gc.collect()
        now = time.monotonic()
        if now >= tell_at or now >= end or count >= most:
            yield Told(schedules=schedules, steps=steps, events=events, failed=tuple(failed))
            schedules = steps = events = 0
            failed.clear()
            tell_at = now + TELL_EVERY_SECONDS
        if now >= end or count >= most:
            break
    gc.enable()
    gc.unfreeze()


def explore_together(first: int, *, workers: int, seconds: float, most: int) -> Iterator[Told]:
    """The same with several processes; worker `n` plays every `workers`-th seed."""
    context = multiprocessing.get_context("spawn")
    told: Queue[Told | None] = context.Queue()
    crew = [
        context.Process(
            target=_work,
            args=(told, first + n, workers, seconds, -(-most // workers)),
            daemon=True,
        )
        for n in range(workers)
    ]
    for worker in crew:
        worker.start()
    left = workers
    try:
        while left:
            try:
                said = told.get(timeout=5.0)
            except queue.Empty:
                codes = [worker.exitcode for worker in crew]
                if any(code not in (None, 0) for code in codes):
                    raise RuntimeError(f"a worker died: {codes}") from None
                continue
            if said is None:
                left -= 1
            else:
                yield said
    finally:
        for worker in crew:
            worker.terminate()
            worker.join()


def _work(told: "Queue[Told | None]", first: int, step: int, seconds: float, most: int) -> None:
    for said in explore(_every(first, step), seconds=seconds, most=most):
        told.put(said)
    told.put(None)


def _every(first: int, step: int) -> Iterator[int]:
    seed = first
    while True:
        yield seed
        seed += step
