"""Exploring: one schedule after another, until the time or the schedules are used up."""

import gc
import multiprocessing
import queue
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count, islice
from typing import TYPE_CHECKING

from tests.proof.sim.patches import patched
from tests.proof.sim.schedule import perform
from tests.proof.sim.script import draw
from tests.proof.sim.tally import Tally

if TYPE_CHECKING:
    from multiprocessing.queues import Queue

COLLECT_EVERY = 50
TELL_EVERY_SECONDS = 1.0


def explore(seeds: Iterator[int], *, seconds: float, most: int) -> Iterator[Tally]:
    """Play these seeds in this process; tell about once a second what was done since."""
    left = islice(seeds, most)
    end = time.monotonic() + seconds
    with _collecting_by_hand():
        while (now := time.monotonic()) < end:
            told = _explore(left, until=min(end, now + TELL_EVERY_SECONDS))
            if not told.schedules:
                return
            yield told


def _explore(seeds: Iterator[int], *, until: float) -> Tally:
    tally = Tally()
    with patched():
        for seed in seeds:
            script = draw(seed)
            tally.count(script, perform(script))
            if tally.schedules % COLLECT_EVERY == 0:
                gc.collect()
            if time.monotonic() >= until:
                break
        # What is left over goes here, where nobody is told of coroutines that were killed.
        gc.collect()
    return tally


@contextmanager
def _collecting_by_hand() -> Iterator[None]:
    """Between schedules only, and nothing that was there before: what is left over is little."""
    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.unfreeze()


def explore_together(first: int, *, workers: int, seconds: float, most: int) -> Iterator[Tally]:
    """The same with several processes; worker `n` plays every `workers`-th seed."""
    context = multiprocessing.get_context("spawn")
    told: Queue[Tally | None] = context.Queue()
    processes = [
        context.Process(
            target=_work,
            args=(told, first + n, workers, seconds, -(-most // workers)),
            daemon=True,
        )
        for n in range(workers)
    ]
    for worker in processes:
        worker.start()
    left = workers
    try:
        while left:
            try:
                said = told.get(timeout=5.0)
            except queue.Empty:
                codes = [worker.exitcode for worker in processes]
                if any(code not in (None, 0) for code in codes):
                    raise RuntimeError(f"a worker died: {codes}") from None
                continue
            if said is None:
                left -= 1
            else:
                yield said
    finally:
        for worker in processes:
            worker.terminate()
            worker.join()


def _work(told: "Queue[Tally | None]", first: int, step: int, seconds: float, most: int) -> None:
    for said in explore(count(first, step), seconds=seconds, most=most):
        told.put(said)
    told.put(None)
