"""Mutants of comparisons: each lets something out that only the vote may tell, or tells it twice."""

from tests.proof.mutation.mutant import Edit, mutant

MUTANTS = (
    mutant(
        "a blind run names its model",
        "Every run of a blind pane says which model it asks.",
        "core conformance api/blind",
        Edit(
            "core/accepting.py",
            "model=None if control.veil else prompt.model",
            "model=prompt.model",
        ),
    ),
    mutant(
        "a blind error names its model",
        "The provider's words come through to those who are to vote.",
        "core conformance api/blind",
        Edit("core/veil.py", "message=IN_PLACE_OF_AN_ERROR", "message=error.message"),
    ),
    mutant(
        "a blind wait names its provider",
        "While a blind answer waits, its provider's own words are shown.",
        "api/blind",
        Edit(
            "core/waiting.py",
            "if waiting is not None and desk.control.veil is not None:",
            "if False:",
        ),
    ),
    mutant(
        "a blind price names its model",
        "The cost of a blind answer is shown, and tells whose it is.",
        "core conformance api/blind",
        Edit("core/veil.py", "replace(used, cost_usd=None, cache", "replace(used, cache"),
    ),
    mutant(
        "tool calls keep their provider's numbers",
        "The form of a call's id tells which provider is asked.",
        "api/blind",
        Edit("agent/unmarked.py", "replace(piece, id=OURS, seal=None) if", "piece if"),
    ),
    mutant(
        "a guess is told apart from a miss",
        "A blind pane takes a prompt for its own model, so whoever tries them all finds it.",
        "api/blind",
        Edit(
            "engine/checking.py", "        if wanted is not None:\n", "        if wanted == 'x':\n"
        ),
    ),
    mutant(
        "a vote over a vote",
        "The last of two votes counts, and both were told that they did.",
        "core conformance",
        Edit("core/comparison.py", "if comparison.vote is not None:", "if False:"),
    ),
    mutant(
        "a vote that forgets the runs",
        "After the vote the runs still hide their model when they are read again.",
        "core conformance",
        Edit(
            "core/comparison.py",
            "control=replace(desk.control, veil=None), revealed=runs",
            "control=replace(desk.control, veil=None)",
        ),
    ),
    mutant(
        "panes in the workspace's log",
        "Whoever watches the workspace is shown sessions that no list has.",
        "conformance",
        Edit(
            "storage/plan.py",
            "    if after.comparison is not None or after.parent:\n",
            "    if after.parent:\n",
        ),
    ),
    mutant(
        "a removed comparison takes a kept session",
        "A pane that is kept while its comparison is removed goes with it.",
        "api/comparisons",
        Edit("engine/comparisons.py", "check=_must_be_pane, by", "check=lambda desk: None, by"),
    ),
)
