"""Where every node sees the same work, one takes it first, the others if it did not."""

from collections import Counter

from tenuto.clock import RandomIds
from tenuto.core.value import NodeId
from tenuto.engine.node import Node
from tenuto.engine.turns import Turns, first_of
from tests.engine.harness import SkippingClock

NODES = tuple(NodeId(f"node_{n}") for n in range(4))


def turns_of(node: NodeId) -> tuple[Turns, SkippingClock]:
    clock = SkippingClock()
    return Turns(Node(id=node, clock=clock, ids=RandomIds())), clock


def test_every_piece_of_work_has_one_who_is_first_and_all_have_some() -> None:
    work = [f"ses_{n}" for n in range(400)]
    firsts = Counter(first_of(what, NODES) for what in work)
    assert set(firsts) == set(NODES)
    assert min(firsts.values()) > 50
    # Whoever asks, in whatever order they know the others.
    assert [first_of(w, NODES) for w in work] == [first_of(w, NODES[::-1]) for w in work]


def test_when_a_node_goes_only_its_turns_move() -> None:
    work = [f"ses_{n}" for n in range(200)]
    for what in work:
        first = first_of(what, NODES)
        if first != NODES[0]:
            assert first_of(what, NODES[1:]) == first


def test_the_first_takes_it_at_once_and_the_others_after_a_second() -> None:
    first = first_of("ses_a", NODES)
    for node in NODES:
        turns, clock = turns_of(node)
        assert list(turns.mine(["ses_a"], NODES)) == (["ses_a"] if node == first else [])
        clock.ahead = 1.5
        assert list(turns.mine(["ses_a"], NODES)) == ["ses_a"]


def test_it_is_left_to_others_for_a_while_first() -> None:
    turns, clock = turns_of(first_of("ses_a", NODES))
    assert list(turns.mine(["ses_a"], NODES, after=1.0)) == []
    clock.ahead = 1.5
    assert list(turns.mine(["ses_a"], NODES, after=1.0)) == ["ses_a"]
    # It was taken, and is there anew.
    assert list(turns.mine([], NODES, after=1.0)) == []
    assert list(turns.mine(["ses_a"], NODES, after=1.0)) == []


def test_who_is_alone_waits_for_nobody() -> None:
    turns, _ = turns_of(NODES[0])
    assert list(turns.mine(["ses_a"], (), after=1.0)) == ["ses_a"]
    assert list(turns.mine(["ses_a"], NODES[:1], after=1.0)) == ["ses_a"]
