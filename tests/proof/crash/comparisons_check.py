"""What must be true of comparisons, however often the server died."""

from tests.proof.crash.record import ClientRecord
from tests.support.raw import RawApi


async def check_comparisons(api: RawApi, record: ClientRecord) -> None:
    """An answered vote stays, and a vote shows every pane's model or none; kept is kept."""
    found = (await api.get("/api/comparisons"))["comparisons"]
    for comparison in found:
        for pane in comparison["panes"]:
            session = await api.get(f"/api/sessions/{pane['session_id']}")
            runs = (await api.get(f"/api/sessions/{pane['session_id']}/runs"))["runs"]
            told = {session["model"], *(run["model"] for run in runs)}
            assert told == {pane["model"]}, (comparison, told)
            assert (pane["model"] is not None) == comparison["voted"], comparison
    by_id = {comparison["id"]: comparison for comparison in found}
    for answer in record.good("POST", "/api/comparisons"):
        if answer.path == "/api/comparisons":
            assert (answer.body["id"] in by_id) != (answer.body["id"] in record.deleted), answer
    for answer in record.good("POST", "/vote"):
        assert by_id[answer.body["id"]]["winner"] == answer.body["winner"], answer
    listed = {s["id"] for s in (await api.get("/api/sessions?limit=200"))["sessions"]}
    kept = {answer.body["id"] for answer in record.good("POST", "/keep")}
    panes = {pane["session_id"] for comparison in found for pane in comparison["panes"]}
    assert listed & panes == kept, "a pane is among the sessions if, and only if, it was kept"
