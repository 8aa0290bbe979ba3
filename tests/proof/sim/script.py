"""A script says what clients and bad luck will do, and when. It is drawn from the seed."""

from random import Random

from tenuto.core.value import Value

ASKS = (
    *("submit",) * 10,
    *("cancel",) * 4,
    *("cancel_run",) * 3,
    *("watch",) * 4,
    *("undo", "retry", "edit", "continue", "compact", "fork", "rename", "delete"),
    *("withdraw", "change_queued", "change_queued"),
    *("answer",) * 3,
    *("watch_run", "watch_workspace", "look", "create"),
)
MORE = (
    *("prompt_panes",) * 4,
    *("vote",) * 3,
    *("carry",) * 3,
    *("set_model",) * 2,
    *("compare", "keep", "forget", "tidy"),
    *("submit", "cancel", "undo", "fork", "delete", "watch"),
)
"""In schedules with a comparison."""
PEOPLE = (
    *("reply",) * 3,
    *("submit", "cancel", "cancel_run", "answer", "delete", "crash_at", "restart"),
)
"""In schedules with tools that ask the person and let sub-agents work."""
ALONE = ("crash", "crash_at", "crash_at", "crash_at", "restart", "trouble", "trouble", "outage")
TOGETHER = (*ALONE, *("freeze",) * 6, *("stall",) * 6)
TRIGGERS = (
    "run.accepted",
    "run.started",
    "part.started",
    "part.delta",
    "part.updated",
    "approval.requested",
    "message.finished",
    "run.finished",
)

FITTING = {
    "answer": "approval.requested",
    "reply": "question.asked",
    "submit": "run.finished",
    "cancel": "run.started",
    "cancel_run": "run.started",
    "freeze": "run.started",
    "stall": "run.started",
    "cut": "run.started",
    "in_doubt": "run.accepted",
}
"""Where a race is most likely."""


ODD_SEEDS, ODD_SEED = 8, 5
"""One seed in so many has a store that refuses in a way that nobody has a name for."""


CLUSTER_SEEDS, CLUSTER_SEED = 19, (0, 1, 4, 7, 9, 10, 13, 18)
"""Eight seeds in so many are of nodes that share a store which may lose its answers."""
CLUSTER = (
    *("in_doubt",) * 8,
    *("crash", "crash_at", "crash_at", "restart", "trouble", "outage"),
    *("freeze",) * 3,
    *("stall",) * 2,
    *("cut",) * 3,
)


DOUBTS = ("stored, in doubt", "stored, in doubt", "in doubt", "in doubt, stored later")
"""What may have become of a write whose answer was lost."""


PANES_SEEDS, PANES_SEED = 4, 2
"""One seed in so many has a comparison, files and changes of settings."""


PEOPLE_SEEDS, PEOPLE_SEED = 5, 3
"""One seed in so many has such tools."""


class Item(Value):
    """One thing that happens."""

    at: float
    kind: str
    session: int = 0
    dice: int = 0
    """All that is left to chance in it."""
    trigger: str | None = None
    """It waits for the session's next event of this type, and comes right after it."""

    def __str__(self) -> str:
        at = f"{self.at:7.3f} s" + (f", right after {self.trigger}" if self.trigger else "")
        return f"{at}  {self.kind} (session {self.session}, dice {self.dice})"


class Script(Value):
    seed: int
    spin: int
    """Another order of steps for the same script."""
    sessions: int
    nodes: int
    width: int
    tick: float
    temper: float
    """How hostile providers, tools and the store are: 0 to 1."""
    hurry: float
    """How long things take, on the whole."""
    permission: str
    titles: bool
    fold_after: float
    items: tuple[Item, ...]
    panes: int = 0
    """How many the comparison has that is there from the start; 0: there is none."""
    people: bool = False
    """There are tools that ask the person, and let sub-agents work."""
    is_cluster: bool = False
    """Nodes share a store that may lose its answers and their rings; none has the right time."""
    most_runs: int = 0
    """That a node works on at once; 0: as many as come."""


def is_only_crashes(script: Script) -> bool:
    """Whether nothing worse happens than that nodes die."""
    bad = (*TOGETHER, *CLUSTER, "odd")
    return all(item.kind == "crash" or item.kind not in bad for item in script.items)


def draw(seed: int, *, spin: int = 0) -> Script:
    dice = Random(seed)
    nodes = 2 if dice.random() < 0.2 else 1
    pace = dice.choice((0.0, 0.02, 0.3, 1.5))
    items = [Item(at=0.0, kind="submit", dice=dice.getrandbits(30))]
    sessions = 2 if dice.random() < 0.2 else 1
    for _ in range(dice.choice((1, 1, 2, 2, 3, 3, 4, 5))):
        items.append(_item(dice, dice.choice(ASKS), items[-1].at, pace, sessions))
    for _ in range(dice.choice((0, 0, 1, 1, 2))):
        kinds = ALONE if nodes == 1 else TOGETHER
        at = dice.choice(items).at
        items.append(_item(dice, dice.choice(kinds), at, pace, sessions))
    if seed % ODD_SEEDS == ODD_SEED:
        # Drawn apart, so that no other seed means anything else than it did.
        apart = Random(-seed)
        at = apart.choice(items).at
        items.append(_item(apart, "odd", at, pace, sessions))
    panes = 0
    if seed % PANES_SEEDS == PANES_SEED:
        apart = Random(-seed)
        panes = apart.choice((2, 3))
        for _ in range(apart.choice((2, 3, 4, 6))):
            at = apart.choice(items).at
            items.append(_item(apart, apart.choice(MORE), at, pace, sessions + panes))
    people = seed % PEOPLE_SEEDS == PEOPLE_SEED
    if people:
        apart = Random(seed * 7 + 3)
        for _ in range(apart.choice((0, 1, 2, 3))):
            at = apart.choice(items).at
            items.append(_item(apart, apart.choice(PEOPLE), at, pace, sessions))
    is_cluster = seed % CLUSTER_SEEDS in CLUSTER_SEED
    if is_cluster:
        apart = Random(seed * 31 + 17)
        nodes = apart.choice((1, 2, 2, 3, 3))
        for _ in range(apart.choice((0, 1, 1, 2, 3))):
            at = apart.choice(items).at
            items.append(_item(apart, apart.choice(CLUSTER), at, pace, sessions))
    return Script(
        seed=seed,
        spin=spin,
        sessions=sessions,
        nodes=nodes,
        width=dice.choice((1, 2, 4, 64)),
        tick=dice.choice((0.0, 0.0001, 0.002)),
        temper=dice.choice((0.0, 0.3, 0.7)),
        hurry=dice.choice((0.01, 0.1, 1.0)),
        permission=dice.choice(("ask", "ask", "allow", "deny")),
        titles=dice.random() < 0.5,
        fold_after=dice.choice((0.0, 1e6)),
        items=tuple(items),
        panes=panes,
        people=people,
        is_cluster=is_cluster,
        most_runs=Random(seed).choice((0, 0, 1)) if is_cluster else 0,
    )


def _item(dice: Random, kind: str, after: float, pace: float, sessions: int) -> Item:
    at = after + (dice.expovariate(1 / pace) if pace and dice.random() < 0.8 else 0.0)
    trigger = dice.choice((None, None, dice.choice(TRIGGERS), FITTING.get(kind)))
    session = dice.randrange(sessions)
    return Item(at=at, kind=kind, session=session, dice=dice.getrandbits(30), trigger=trigger)
