"""A call hands its work to a sub-agent: both begin, or neither does."""

import pytest

from tenuto.core import cancelling, delegating
from tenuto.core.accepting import Prompt
from tenuto.core.desk import Joint
from tenuto.core.error import Fenced, SessionBusy
from tenuto.core.message import ToolPart
from tenuto.core.principal import OWNER
from tenuto.core.run import ChildUsage, Reason, Run, Usage, used_below
from tenuto.core.value import RunId, SessionId
from tests.core.little_store import LittleStore, ending

Begun = Joint[tuple[Run, ToolPart] | None]


def family() -> tuple[LittleStore, LittleStore]:
    above, below = LittleStore(), LittleStore(id=SessionId("ses_2"))
    above.accept()
    above.start()
    return above, below


def begin(above: LittleStore, below: LittleStore, part: ToolPart) -> Begun:
    prompt = Prompt(
        run_id=RunId("run_below"),
        by=OWNER.id,
        input="look",
        model="test/model",
        parent_run=above.fence().run_id,
    )
    message = above.open_message()
    assert message is not None
    return delegating.begin(
        above.desk(), below.desk(), above.fence(), prompt, part, message.id, above.moment()
    )


def test_a_call_runs_and_says_where_its_work_is() -> None:
    above, below = family()
    joint = begin(above, below, above.call("task"))
    assert joint.result is not None
    run, part = joint.result
    assert (run.status, run.parent_run) == ("queued", above.fence().run_id)
    assert (part.state, part.details) == ("running", {"session_id": "ses_2"})
    assert "ses_2" in (part.output or "")
    above.keep(joint.changes[above.session.id])
    below.keep(joint.changes[below.session.id])
    assert above.control.children == ("ses_2",)
    assert below.session.queued == 1
    above.settle(ending("completed", "end_turn"))
    assert not above.control.children


def test_nothing_begins_for_a_run_that_is_being_stopped() -> None:
    above, below = family()
    part = above.call("task")
    above.cancel()
    assert begin(above, below, part) == Joint(changes={}, result=None)


def test_only_the_owner_of_the_run_may_begin_and_only_one_at_a_time() -> None:
    above, below = family()
    part = above.call("task")
    below.accept()
    with pytest.raises(SessionBusy):
        begin(above, below, part)
    fence = above.fence()
    above.settle(ending("interrupted", "server_crashed"))
    above.accept()
    above.start()
    prompt = Prompt(run_id=RunId("run_x"), by=OWNER.id, input="look", model="test/model")
    message = above.open_message()
    assert message is not None
    with pytest.raises(Fenced):
        delegating.begin(
            above.desk(), below.desk(), fence, prompt, part, message.id, above.moment()
        )


def test_a_cancel_covers_what_is_done_for_the_runs_that_it_covers_and_nothing_else() -> None:
    above, below = family()
    joint = begin(above, below, above.call("task"))
    above.keep(joint.changes[above.session.id])
    below.keep(joint.changes[below.session.id])
    below.start()
    other = LittleStore(id=SessionId("ses_3"))
    other.accept()
    other.start()
    covered = above.desk()

    change = cancelling.cancel_session(covered, Reason.USER, above.moment())
    desks = {store.session.id: store.desk() for store in (below, other)}
    both = delegating.cover(desks, change, Reason.USER, above.moment())
    assert both.changes.keys() == {"ses_2"}
    below.keep(both.changes[SessionId("ses_2")])
    assert below.settle(ending("completed", "end_turn")).status == "cancelled"


def test_what_is_used_below_is_shown_above_and_not_added() -> None:
    used = Usage(input_tokens=5, output_tokens=2, cost_usd=0.5)
    total = Usage(input_tokens=1, cost_usd=0.25) + used_below(used) + used_below(used)
    assert (total.input_tokens, total.cost_usd) == (1, 0.25)
    assert total.children == ChildUsage(input_tokens=10, output_tokens=4, cost_usd=1.0)
    assert total.with_children_usd == 1.25
