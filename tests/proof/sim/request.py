"""What a model may be told: every request is checked as a strict provider would."""

from typing import TYPE_CHECKING

import msgspec

from tenuto.agent import prompts
from tenuto.agent.context import GO_ON
from tenuto.ports.model import AssistantTurn, ModelRequest, TextBlock, ToolTurn, Turn, UserTurn
from tests.proof.sim.violation import must

if TYPE_CHECKING:
    from tests.proof.sim.session_log import WitnessedLog
    from tests.proof.sim.world import World


def check_request(world: "World", request: ModelRequest) -> str:
    """The run that asks; empty for a title or a summary."""
    _check_turns(request.turns)
    # Each session's own words are its id.
    own = request.system.rpartition("the person asks:\n")[2].split("\n")[0]
    session = world.witness.sessions.get(own)
    if prompts.SUB_AGENT in request.system:
        session = _sub_agent(world, request, own)
    if session is None:
        ours = (prompts.TITLE, prompts.SUMMARISER)
        must(request.system.startswith(ours), "sessions are told apart")
        return ""
    if world.script.nodes > 1:
        return session.active or ""
    if world.ledger.is_deleting(session):
        # It is being told to stop; who deletes it still waits.
        return session.active or ""
    must(session.active is not None, "only an active run asks", session.id)
    assert session.active is not None
    world.promptness.must_not_be_covered(session.active)
    if not session.compacted:
        told = "".join(map(_text, request.turns))
        for message_id in session.before_active:
            for part in session.transcript.messages[message_id]["parts"]:
                text = part["text"].strip() if part["type"] == "text" else ""
                must(text in told, "the model is told what was said", text, told)
    return session.active


def _sub_agent(world: "World", request: ModelRequest, above: str) -> "WitnessedLog | None":
    """By its prompt, which was never given before, or which was summed up."""
    told = set("".join(map(_text, request.turns)).replace("[", " ").split())
    children = [child for child, parent in world.ledger.families.items() if parent == above]
    sessions = [world.witness.sessions[child] for child in children]
    for session in sessions:
        if any(set(run["input"].split()) <= told for run in session.runs.values()):
            return session
    return next((session for session in sessions if session.compacted and session.active), None)


def goes_on(request: ModelRequest) -> bool:
    """Whether the model is asked to go on where its answer ended."""
    last = request.turns[-1]
    return isinstance(last, UserTurn) and last.blocks[-1] == TextBlock(text=GO_ON)


def _check_turns(turns: tuple[Turn, ...]) -> None:
    must(turns and isinstance(turns[0], UserTurn), "the user begins", turns)
    must(not isinstance(turns[-1], AssistantTurn), "there is something to answer", turns)
    owed: list[str] = []
    before: Turn | None = None
    for turn in turns:
        if isinstance(turn, ToolTurn):
            must(turn.call_id in owed, "a result is of a call before it", turns)
            owed.remove(turn.call_id)
        else:
            must(not owed, "every call has its result", turns)
        match turn:
            case UserTurn():
                must(turn.blocks, "a user says something", turns)
                must(not isinstance(before, UserTurn), "they take turns", turns)
            case AssistantTurn():
                must(turn.text.strip() or turn.calls, "an answer says something", turns)
                must(not isinstance(before, AssistantTurn), "they take turns", turns)
                owed = [call.id for call in turn.calls]
                must(len(set(owed)) == len(owed), "calls are told apart", turns)
                for call in turn.calls:
                    must(isinstance(msgspec.json.decode(call.arguments), dict), "JSON", turns)
        before = turn
    must(not owed, "every call has its result", turns)


def _text(turn: Turn) -> str:
    match turn:
        case UserTurn():
            return "".join(b.text for b in turn.blocks if isinstance(b, TextBlock))
        case AssistantTurn():
            return turn.text
        case _:
            return turn.output
