"""What must be true of files that runs changed, however often the server died."""

from collections.abc import Iterable
from pathlib import Path

from tests.oracle.fold import Fold
from tests.proof.crash.pooled import PooledApi


async def check_files(api: PooledApi, states: Iterable[Fold], workspace: Path) -> None:
    """Nobody else changed them, so all can be taken back, the newest first, and nothing is left."""
    runs = [
        run
        for state in states
        for run in state.runs.values()
        if isinstance(run["input"], str) and ": files" in run["input"]
    ]
    for run in sorted(runs, key=lambda run: run["accept_number"], reverse=True):
        told = (await api.get(f"/api/runs/{run['id']}/changes"))["changes"]
        answer = await api.call("POST", f"/api/runs/{run['id']}/revert", {})
        assert answer.status == 200, answer
        assert not answer.body["conflicts"], (answer.body, told)
        left = (await api.get(f"/api/runs/{run['id']}/changes"))["changes"]
        assert {change["state"] for change in left} <= {"reverted"}, left
    # The folder stays if another run used it when the one that made it was taken back.
    files = list((workspace / "made").glob("*"))
    assert not files, files
