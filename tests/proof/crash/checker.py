"""The checker: what must be true of a server, however often it died.

It knows the contract and the record of what clients were told, and none of our code.
"""

from collections import Counter
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Any

import aiohttp
import anyio
import psutil  # type: ignore[import-untyped]

from tests.oracle.ending import ENDINGS
from tests.oracle.fold import Fold, fold
from tests.proof.crash.comparisons_check import check_comparisons
from tests.proof.crash.families_check import check_families
from tests.proof.crash.files_check import check_files
from tests.proof.crash.pooled import PooledApi
from tests.proof.crash.record import ClientRecord, Json, ToldAnswer
from tests.proof.crash.server import TOKEN, CrashingServer
from tests.proof.crash.settings_check import check_settings
from tests.proof.crash.tools_check import check_tools
from tests.support.log import assert_settled
from tests.support.model_server import ModelServer

CALM_SECONDS = 15.0
LOOK_SECONDS = 0.01
RECOVERY = timedelta(seconds=2)
"""The contract allows five seconds from the start; a server with one file recovers before it is
ready, so this is long."""
KINDS = {"ses": "sessions", "wsp": "workspaces", "cmp": "comparisons"}
COVERED = {"user", "replaced", "disconnect"}
"""Why a run that a cancel covered may have been cancelled: the first cause stays."""

LEFT = {("cancelled", "disconnect"), ("interrupted", "server_crashed")}
"""How a run ends whose listener hung up, or lost its server."""
HEARD = LEFT | {("completed", "end_turn")}


class Checker:
    def __init__(
        self,
        server: CrashingServer,
        record: ClientRecord,
        model: ModelServer,
        http: aiohttp.ClientSession,
    ) -> None:
        self._api = PooledApi(server.url, TOKEN, http)
        self._server = server
        self._folder = server.folder
        self._record = record
        self._model = model
        self._logs: dict[str, list[Json]] = {}
        self._states: dict[str, Fold] = {}
        """What each log comes to."""

    async def check(self) -> None:
        """Raises AssertionError with the first thing that is wrong. Everything must be calm."""
        assert not self._record.complaints, self._record.complaints
        for session_id in self._sessions():
            log = self._logs[session_id] = await assert_settled(self._api, session_id)
            self._states[session_id] = fold(log)
        await check_families(self._api, dict(self._states))
        await self._check_workspace_log()
        self._check_seen()
        self._check_accepted()
        self._check_endings()
        self._check_reasons()
        self._check_recovered()
        self._check_cancels()
        await self._check_changes()
        await self._check_deleted()
        await check_comparisons(self._api, self._record)
        await check_settings(self._api, self._record, self._model, self._folder)
        await self._check_approvals()
        check_tools(self._folder / "ledger", self._states.values())
        await self._check_repeats()
        workspace = self._folder / "data" / "workspace"
        await check_files(self._api, self._states.values(), workspace)
        await self._check_nothing_left()

    def _sessions(self) -> list[str]:
        made = self._record.good("POST", "/api/sessions")
        ids = [a.body["id"] for a in made if a.path == "/api/sessions" or a.path.endswith("/fork")]
        for answer in self._record.good("POST", "/api/comparisons"):
            ids += [pane["session_id"] for pane in answer.body.get("panes", ())]
        return [i for i in dict.fromkeys(ids) if i not in self._record.deleted]

    async def _check_workspace_log(self) -> None:
        """It has no gap, and what was seen of it is kept."""
        after = self._record.whole_after.get("default", 0)
        seen = {n: e for n, e in self._record.seen["default"].items() if n > after}
        async with self._api.sse("/api/workspaces/default/events", after=after) as stream:
            await stream.until_seq(max(seen)) if seen else None
            log = [frame.data for frame in stream.frames]
        assert [event["seq"] for event in log] == list(range(after + 1, after + len(log) + 1))
        for seq, event in seen.items():
            assert log[seq - after - 1] == event, f"seen: {event}; kept: {log[seq - after - 1]}"

    def _check_seen(self) -> None:
        """Seen is saved: in the same place, with the same content."""
        for log, events in self._record.seen.items():
            if log in self._record.deleted or log == "default":
                continue
            kept = {event["seq"]: event for event in self._logs[log]}
            for seq, event in events.items():
                assert kept.get(seq) == event, f"seen in {log}: {event}; kept: {kept.get(seq)}"

    def _check_accepted(self) -> None:
        """Accepted is answered: what got a 202 is in the log once, and ended once."""
        for answer in self._record.good("POST", "/"):
            for run in _accepted_by(answer):
                if run["session_id"] in self._record.deleted:
                    continue
                log = self._logs[run["session_id"]]
                kinds = [e["type"] for e in log if e["run_id"] == run["id"]]
                assert kinds.count("run.accepted") == 1, (answer, kinds)
                assert kinds.count("run.finished") == 1, (answer, kinds)
        accepted = Counter(
            event["run"]["input"]
            for events in self._logs.values()
            for event in events
            if event["type"] == "run.accepted"
            and isinstance(event["run"]["input"], str)
            and event["run"]["input"]
        )
        for text, count in accepted.items():
            assert count <= self._record.asked[text], f"{text!r} was accepted {count} times"

    def _check_endings(self) -> None:
        """An ended run never changes again: whoever was told of an ending was told this one."""
        ends = {run["id"]: run for state in self._states.values() for run in state.runs.values()}
        for answer in self._record.answers:
            run = _run_of(answer)
            if run is not None and run["status"] in ENDINGS and run["id"] in ends:
                assert run == ends[run["id"]], f"told: {run}; kept: {ends[run['id']]}"

    def _check_reasons(self) -> None:
        """No run fails that was not to fail, and one that hangs on a listener ends with him."""
        for state in self._states.values():
            for run in state.runs.values():
                if run["status"] == "failed":
                    assert ": fail" in run["input"], run
                if run["on_disconnect"] == "cancel":
                    endless = ": endless" in run["input"]
                    assert (run["status"], run["reason"]) in (LEFT if endless else HEARD), run

    def _check_recovered(self) -> None:
        """No run says running for long with nobody running it."""
        for state in self._states.values():
            for run in state.runs.values():
                if run["reason"] == "server_crashed":
                    ended = datetime.fromisoformat(run["finished_at"])
                    assert not self._came_late(ended), run

    def _came_late(self, ended: datetime) -> bool:
        """Whether the process in which this happened had been ready for long."""
        ready = [span for span in self._server.spans if span.born <= ended][-1].ready
        return ready is not None and ended - ready > RECOVERY

    def _check_cancels(self) -> None:
        """Stopped is stopped: nothing of the runs follows an answered cancel."""
        for answer in self._record.good("POST", "/cancel"):
            session_id = answer.path.split("/")[3] if "/sessions/" in answer.path else None
            if session_id is None:
                assert answer.body["status"] in ENDINGS, answer
                continue
            if session_id in self._record.deleted:
                continue
            assert answer.body["settled"], answer
            log = self._logs[session_id]
            runs = self._states[session_id].runs
            for run_id in answer.body["cancelled"]:
                late = [e for e in log if e["run_id"] == run_id and e["seq"] > answer.body["head"]]
                assert not late, f"after the cancel {answer.body} came {late}"
                assert runs[run_id]["status"] == "cancelled", runs[run_id]
                assert runs[run_id]["reason"] in COVERED, runs[run_id]

    async def _check_changes(self) -> None:
        """Answered names stay, answered undos stay undone, withdrawn prompts leave no message."""
        for session_id in self._sessions():
            path = f"/api/sessions/{session_id}"
            session = await self._api.get(path)
            renames = [a.sent for a in self._record.good("PATCH", path) if a.path == path]
            wanted = {name: value for sent in renames for name, value in sent.items()}
            assert wanted.items() <= session.items(), f"{wanted} became {session}"
            there = {m["id"] for m in (await self._api.get(f"{path}/messages"))["messages"]}
            undone = [a for a in self._record.good("POST", path) if a.path.endswith("/undo")]
            for answer in undone:
                assert not there & set(answer.body["removed"]), answer
        for answer in self._record.good("DELETE", "/api/runs/"):
            run = await self._api.get(answer.path)
            assert (run["status"], run["reason"]) == ("cancelled", "withdrawn"), run

    async def _check_deleted(self) -> None:
        for gone in self._record.deleted:
            found = await self._api.call("GET", f"/api/{KINDS[gone.partition('_')[0]]}/{gone}")
            assert found.status == 404, found
        for answer in self._record.good("POST", "/runs"):
            for run in _accepted_by(answer):
                if run["session_id"] in self._record.deleted:
                    found = await self._api.call("GET", f"/api/runs/{run['id']}")
                    assert found.status == 404, found

    async def _check_approvals(self) -> None:
        """Every question has its answer, and an answer that was taken stays."""
        for session_id in self._sessions():
            found = (await self._api.get(f"/api/sessions/{session_id}/approvals"))["approvals"]
            assert found == list(self._states[session_id].approvals.values())
            states = {approval["id"]: approval for approval in found}
            assert "pending" not in {a["state"] for a in found}, found
            for answer in self._record.good("POST", "/api/approvals/"):
                if answer.body["session_id"] == session_id:
                    assert states[answer.body["id"]] == answer.body, answer
            await self._check_questions(session_id)

    async def _check_questions(self, session_id: str) -> None:
        found = (await self._api.get(f"/api/sessions/{session_id}/questions"))["questions"]
        assert found == list(self._states[session_id].questions.values())
        assert "pending" not in {question["state"] for question in found}, found
        kept = {question["id"]: question for question in found}
        for answer in self._record.good("POST", "/api/questions/"):
            if answer.body["root_session_id"] == session_id:
                assert kept[answer.body["id"]] == answer.body, answer

    async def _check_repeats(self) -> None:
        """The same key and body give the first answer again, and do nothing."""
        for answer in list(self._record.answers):
            gone = _owner_of(answer) in self._record.deleted
            if not answer.good or answer.key is None or answer.sent is None or gone:
                continue
            if isinstance(answer.body, dict) and answer.body.get("id") in self._record.deleted:
                continue
            headers = {"Idempotency-Key": answer.key}
            again = await self._api.call("POST", answer.path, answer.sent, headers=headers)
            assert again.status == answer.status, (answer, again)
            assert _id_of(again.body) == _id_of(answer.body), (answer, again)
        for session_id in self._sessions():
            head = (await self._api.get(f"/api/sessions/{session_id}"))["head"]
            assert head == len(self._logs[session_id]), f"{session_id} has grown"

    async def _check_nothing_left(self) -> None:
        """No tool is at work for nobody, and no request is open."""

        async def nothing() -> bool:
            return not any(exchange.ended == "open" for exchange in self._model.exchanges)

        await until(nothing, "a request to the model is still open")
        await until(self._no_process, "a tool's process is still there")

    async def _no_process(self) -> bool:
        folders = {str(self._folder / "data" / "workspace"), str(self._folder / "elsewhere")}
        return not any(p.info["cwd"] in folders for p in psutil.process_iter(["cwd"]))


def _run_of(answer: ToldAnswer) -> Json | None:
    """The run in an answer; None if it holds none."""
    body = answer.body if answer.good and isinstance(answer.body, dict) else {}
    found = body.get("run", body)
    return found if "accept_number" in found else None


def _accepted_by(answer: ToldAnswer) -> list[Json]:
    """The runs that this answer says were accepted."""
    if answer.status != 202:
        return []
    runs: list[Json] = answer.body.get("runs", [answer.body])
    return runs


def _owner_of(answer: ToldAnswer) -> str | None:
    """The session or comparison that was asked."""
    owned = answer.path.startswith(("/api/sessions/", "/api/comparisons/"))
    return answer.path.split("/")[3] if owned else None


def _id_of(body: Any) -> Any:
    return body.get("id") or [run["id"] for run in body.get("runs", [body.get("run")])]


async def until(true: Callable[[], Awaitable[bool]], else_say: str) -> None:
    with anyio.move_on_after(CALM_SECONDS):
        while not await true():  # noqa: ASYNC110 (it is a process that we wait for)
            await anyio.sleep(LOOK_SECONDS)
        return
    raise AssertionError(else_say)
