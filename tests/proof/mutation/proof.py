"""The proofs that mutants are shown to: selections of our own tests, by name."""

API = "tests/api"
CONTRACT = "tests/api/contract"

PROOFS: dict[str, tuple[str, ...]] = {
    "core": ("tests/core",),
    "agent": ("tests/agent",),
    "found": ("tests/engine/test_found_by_history.py", "tests/engine/test_found_by_sim.py"),
    "lane": ("tests/engine/test_lane.py",),
    "recorder": ("tests/engine/test_recorder.py",),
    "resort": ("tests/engine/test_last_resort.py",),
    "protect": ("tests/engine/test_protect.py",),
    "stops": ("tests/engine/test_stops.py",),
    "rescue": ("tests/engine/test_rescue.py",),
    "apart": ("tests/engine/test_apart.py",),
    "commit": ("tests/engine/test_commit.py",),
    "principal": ("tests/conformance/test_principal.py",),
    "conformance": ("tests/conformance",),
    "providers": ("tests/providers", "--ignore=tests/providers/test_embedded.py"),
    "stories": ("tests/strict/test_stories.py",),
    "tools": ("tests/tools",),
    "storage": ("tests/storage", "--ignore=tests/storage/test_cost.py"),
    "api/blind": (f"{API}/test_comparisons_blind.py",),
    "api/comparisons": (f"{CONTRACT}/test_comparisons.py",),
    "api/cancel": (f"{API}/test_guarantees_cancel.py",),
    "api/clients": (f"{API}/test_guarantees_clients.py",),
    "api/detached": (f"{API}/test_guarantees_detached.py",),
    "api/doubled": (f"{API}/test_failures_doubled.py",),
    "api/history": (f"{CONTRACT}/test_history.py",),
    "api/limits": (f"{CONTRACT}/test_limits.py",),
    "api/lost": (f"{API}/test_failures_lost.py",),
    "api/lying": (f"{API}/test_failures_lying_stop.py",),
    "api/once": (f"{CONTRACT}/test_once.py",),
    "api/principal": (f"{API}/test_principal.py",),
    "api/persistence": (f"{API}/test_guarantees_persistence.py",),
    "api/queue": (f"{API}/test_guarantees_queue.py", f"{CONTRACT}/test_queue.py"),
    "api/resources": (f"{API}/test_failures_resources.py",),
    "api/stale": (f"{API}/test_failures_stale_writers.py",),
    "api/stopping": (f"{CONTRACT}/test_stopping.py",),
    "api/streams": (f"{CONTRACT}/test_streams.py",),
    "api/stuck": (f"{API}/test_failures_stuck.py",),
    "api/writers": (f"{API}/test_guarantees_writers.py",),
    "race": (f"{API}/test_cancel_race.py",),
    "history": ("tests/proof/history/test_history.py",),
    "sim": ("tests/proof/sim", "tests/engine/test_found_by_sim.py"),
    "crash": ("tests/proof/crash",),
}

LAST_RESORT = ("conformance", "race", "history", "sim", "crash")
"""Shown to a mutant that none of its own proofs has noticed."""
