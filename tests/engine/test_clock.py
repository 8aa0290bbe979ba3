"""The real clock and real ids."""

import re
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest

from tenuto.clock import RandomIds, SystemClock

INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
ID = re.compile(r"run_[0-9a-hjkmnp-tv-z]{26}")


def test_an_instant_is_utc_with_exactly_milliseconds() -> None:
    before = datetime.now(UTC).isoformat()[:19]
    now = SystemClock().now()
    after = datetime.now(UTC).isoformat()[:19]
    assert INSTANT.fullmatch(now)
    assert before <= now[:19] <= after


def test_a_whole_second_still_shows_its_milliseconds(monkeypatch: pytest.MonkeyPatch) -> None:
    # Noon of the second of January 2026, counted from 1970.
    monkeypatch.setattr(time, "time_ns", lambda: 1_767_355_200 * 1_000_000_000)
    assert SystemClock().now() == "2026-01-02T12:00:00.000Z"
    assert SystemClock().later(1.5) == "2026-01-02T12:00:01.500Z"
    assert SystemClock().later(-60) == "2026-01-02T11:59:00.000Z"


def test_seconds_never_go_back(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SystemClock()
    before = clock.seconds()
    monkeypatch.setattr(time, "time", lambda: 0.0)
    assert clock.seconds() >= before


def test_an_id_is_its_prefix_and_26_characters() -> None:
    assert ID.fullmatch(RandomIds().new("run"))


def test_ids_made_later_sort_later_also_within_a_millisecond() -> None:
    ids = RandomIds()
    made = [ids.new("run") for _ in range(20_000)]
    assert made == sorted(made)
    assert len(set(made)) == 20_000


def test_ids_made_later_sort_later_when_the_clock_is_set_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ids = RandomIds()
    before = ids.new("run")
    monkeypatch.setattr(time, "time_ns", lambda: 1_000_000_000)
    assert ids.new("run") > before


def test_ids_of_two_processes_sort_by_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time_ns", lambda: 1_800_000_000_000_000_000)
    earlier = RandomIds().new("run")
    monkeypatch.setattr(time, "time_ns", lambda: 1_800_000_000_001_000_000)
    assert RandomIds().new("run") > earlier


def test_each_threads_ids_sort_by_when_they_were_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time_ns", lambda: 1_800_000_000_000_000_000)
    ids = RandomIds()
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            made = list(pool.map(lambda _: [ids.new("run") for _ in range(1_000)], range(8)))
    finally:
        sys.setswitchinterval(interval)
    assert all(mine == sorted(mine) for mine in made)
    assert len({one for mine in made for one in mine}) == 8_000
