"""Mutants of the decisions: what is accepted, started, steered, cancelled, settled, undone."""

from tests.proof.mutation.mutant import Edit, mutant

MUTANTS = (
    mutant(
        "mark forgotten at start",
        "A run that a cancel covers is started all the same.",
        "core conformance api/cancel",
        Edit(
            "core/starting.py",
            "if reason := desk.control.cancels.reason_for(run):\n        # Cancels end",
            "if reason := ():\n        # Cancels end",
        ),
    ),
    mutant(
        "mark covers one too many",
        "A cancel also covers the next prompt, which is not there yet.",
        "core conformance api/cancel",
        Edit(
            "core/cancelling.py",
            "cover_all(mark, active, reason, by",
            "cover_all(mark + 1, active, reason, by",
        ),
    ),
    mutant(
        "mark covers one too few",
        "The last prompt accepted before a cancel is not covered by it.",
        "core",
        Edit("core/cancel.py", "run.accept_number <= self.mark", "run.accept_number < self.mark"),
    ),
    mutant(
        "cancel of the active run not written down",
        "A session's cancel ends what waits and leaves what runs.",
        "core conformance api/cancel",
        Edit(
            "core/cancelling.py",
            "cancels = desk.control.cancels.cover_all(mark, active, reason, by=moment.by)",
            "cancels = desk.control.cancels",
        ),
    ),
    mutant(
        "no tie rule",
        "A run that ends at the moment of its cancel ends completed.",
        "core conformance",
        Edit(
            "core/settling.py",
            "ending = Ending(status=RunStatus.CANCELLED, reason=reason, usage=ending.usage)",
            "pass",
        ),
    ),
    mutant(
        "no fencing of endings",
        "A writer that was fenced off takes a steer or settles all the same.",
        "found core conformance",
        Edit(
            "core/desk.py",
            "            or self.active.id != fence.run_id\n"
            "            or self.control.epoch != fence.epoch\n",
            "            or self.active.id != fence.run_id\n",
        ),
    ),
    mutant(
        "epoch not raised at start",
        "Nobody who looks twice can tell that a run has begun between the looks.",
        "found core conformance",
        Edit(
            "core/starting.py",
            "epoch=desk.control.epoch + 1,\n        owner=moment.node,",
            "epoch=desk.control.epoch,\n        owner=moment.node,",
        ),
    ),
    mutant(
        "epoch not raised at the end",
        "A writer is not fenced when its run has ended.",
        "core conformance found",
        Edit(
            "core/settling.py",
            "epoch=control.epoch + 1,\n        owner=None,\n        parked=None,",
            "epoch=control.epoch,\n        owner=None,\n        parked=None,",
        ),
    ),
    mutant(
        "an ended run may end again",
        "The transition table is not asked.",
        "core",
        Edit("core/run.py", "if status not in NEXT[self.status]:", "if False:"),
    ),
    mutant(
        "queue runs from its end",
        "The prompt that was accepted last starts first.",
        "core conformance api/queue",
        Edit(
            "core/desk.py",
            "next((run for run in self.queue if not run.held), None)",
            "next((run for run in reversed(self.queue) if not run.held), None)",
        ),
    ),
    mutant(
        "what is held runs all the same",
        "A stop keeps what waited, and then it runs by itself.",
        "core conformance",
        Edit(
            "core/desk.py",
            "for run in self.queue if not run.held), None)",
            "for run in self.queue), None)",
        ),
    ),
    mutant(
        "reject is ignored",
        "A prompt that wanted an idle session is accepted by a busy one.",
        "core api/queue",
        Edit(
            "core/accepting.py",
            "if busy and prompt.when_busy is WhenBusy.REJECT:",
            "if False:",
        ),
    ),
    mutant(
        "interrupt does not stop what runs",
        "A prompt that should replace the active run waits behind it.",
        "core api/queue",
        Edit(
            "core/accepting.py",
            "if busy and prompt.when_busy is WhenBusy.INTERRUPT:",
            "if False:",
        ),
    ),
    mutant(
        "steer given to a cancelled run",
        "A prompt is handed to a run that a cancel covers, and ends with it.",
        "core conformance",
        Edit(
            "core/steering.py",
            "if not steers or cancels.reason_for(run):",
            "if not steers:",
        ),
    ),
    mutant(
        "approvals left pending",
        "A question about a run that has ended stays open for ever.",
        "core conformance",
        Edit(
            "core/settling.py",
            "events += withdrawn(desk, run, moment)",
            "pass",
        ),
    ),
    mutant(
        "tools left open",
        "A cancelled run's tool call says running for ever.",
        "core conformance",
        Edit(
            "core/settling.py",
            "whole = close_tools(open_message, state)",
            "whole = open_message",
        ),
    ),
    mutant(
        "title over a rename",
        "A generated title replaces the name that the user gave.",
        "core api/writers",
        Edit(
            "core/editing.py",
            "if title is not None and not named and not desk.session.comparison:",
            "if title is not None:",
        ),
    ),
    mutant(
        "retry forgets to undo",
        "The prompt that is asked again stands in the transcript twice.",
        "core conformance",
        Edit(
            "core/editing.py",
            "return replace(accepted, events=rewound.events + accepted.events)",
            "return accepted",
        ),
    ),
    mutant(
        "undo while a run is active",
        "An undo in the middle of a run is accepted and diverges from it.",
        "core api/writers",
        Edit(
            "core/editing.py",
            "if not desk.idle:",
            "if False:",
        ),
    ),
    mutant(
        "delete reads before it fences",
        "A session deleted while its run goes on ends the wrong message.",
        "found",
        Edit(
            "core/editing.py",
            "    if desk.active is None:\n"
            "        return Change(events=(), control=desk.control, result=desk.control.epoch)\n"
            "    cancels = desk",
            "    return Change(events=(), control=desk.control, result=desk.control.epoch)\n"
            "    cancels = desk",
        ),
    ),
)
