"""Mutants of what asks people, and of sub-agents."""

from tests.proof.mutation.mutant import Edit, mutant

MUTANTS = (
    mutant(
        "a steer that answers nothing",
        "What somebody writes while a question waits stands in the queue, and the run waits on.",
        "core/questioning api/questions",
        Edit(
            "core/accepting.py",
            "    answered = steered(desk, (run,), moment)\n",
            "    answered = ()\n",
        ),
    ),
    mutant(
        "a steer that answers for a stopped run",
        "A question of a run that is being cancelled is answered with a prompt of its own.",
        "core/questioning",
        Edit(
            "core/questioning.py",
            "not steers or desk.control.cancels.reason_for(run):",
            "not steers:",
        ),
    ),
    mutant(
        "an answer to half of what is asked",
        "A model is told an answer that belongs to another of its questions.",
        "core/questioning api/questions",
        Edit("core/question.py", "    if len(answers) != len(asked):\n", "    if False:\n"),
    ),
    mutant(
        "a question that is asked again",
        "After a restart the person is asked what they have answered.",
        "api/questions/waiting",
        Edit(
            "engine/requests.py",
            "            asked = [one for one in await self._asked(Question) if one.part_id == part.id]\n",
            "            asked: list[Question] = []\n",
        ),
    ),
    mutant(
        "a question to nobody",
        "A run that nobody attends waits for an answer for ever.",
        "api/questions",
        Edit(
            "engine/requests.py",
            "        if not self._run.attended:\n"
            "            return UserReply(kind=ReplyKind.NOBODY)\n"
            "        # It may",
            "        # It may",
        ),
    ),
    mutant(
        "a call that began without its sub-agent",
        "A crash leaves a call that runs, and nobody who works for it.",
        "families",
        Edit("core/delegating.py", "        child.session.id: accepted,\n", ""),
    ),
    mutant(
        "a sub-agent of a run that is being stopped",
        "A cancel has answered, and then somebody begins to work for the run.",
        "core/delegating",
        Edit(
            "core/delegating.py",
            "    if parent.control.cancels.reason_for(run):\n",
            "    if False:\n",
        ),
    ),
    mutant(
        "a stop that leaves sub-agents alone",
        "The run has ended, and its sub-agents go on and cost money.",
        "api/sub_agents",
        Edit(
            "core/delegating.py",
            "            if run.parent_run in change.result.runs:\n",
            "            if False:\n",
        ),
        Edit("engine/sub_agents.py", "            await self._cover(run, reason)\n", ""),
    ),
    mutant(
        "a cancel that does not know all sub-agents",
        "One that began at the same moment is not covered by the change that stops its run.",
        "families/cover",
        Edit("engine/families.py", "    if not {*there} <= {*known}:\n", "    if False:\n"),
    ),
    mutant(
        "sub-agents of sub-agents",
        "One that is prompted by itself has sub-agents of its own, without end.",
        "api/sub_agents",
        Edit("engine/kit.py", "    alone = bool(site.session.parent) or ", "    alone = "),
    ),
    mutant(
        "a sub-agent that looks and writes",
        "One that was only to look changes files.",
        "api/sub_agents",
        Edit("engine/kit.py", " and not (only_looks and tool.changes)", ""),
    ),
    mutant(
        "questions that nobody above hears",
        "A sub-agent waits for an answer that nobody knows of who looks at its session.",
        "families api/sub_agents",
        Edit(
            "storage/plan.py",
            "    return plan(root, control, events, ()) if events else None\n",
            "    return None\n",
        ),
    ),
    mutant(
        "grants that flow up",
        "What a decision above grants answers what a sub-agent asks, in one log only.",
        "families",
        Edit(
            "core/desk.py",
            "(thing for thing in self.things if thing.session_id == self.session.id)",
            "self.things",
        ),
    ),
    mutant(
        "a sub-agent that outlives its run",
        "A sub-agent goes on after a crash, for nobody.",
        "sub_agents/nobody",
        Edit(
            "engine/families.py",
            "        return (await store.run(run.parent_run)).ended\n",
            "        return False\n",
        ),
    ),
    mutant(
        "no room for one's own sub-agents",
        "A server that works on as many runs as it may waits for itself for ever.",
        "api/sub_agents/killed",
        Edit("engine/sub_agents.py", "        self._coordinator.welcome(child.id)\n", ""),
    ),
    mutant(
        "a cost that is counted twice",
        "What sub-agents used is in the usage of their run, and in their own.",
        "api/sub_agents",
        Edit(
            "core/run.py", "    return Usage(children=ChildUsage(**fields))\n", "    return usage\n"
        ),
    ),
    mutant(
        "a parked sub-agent",
        "After a crash one waits for an answer, and whoever asked it is gone.",
        "api/sub_agents/killed",
        Edit(
            "core/run.py",
            "        return self.on_disconnect is OnDisconnect.CANCEL or self.parent_run is not UNSET\n",
            "        return self.on_disconnect is OnDisconnect.CANCEL\n",
        ),
    ),
    mutant(
        "sub-agents left behind",
        "Deleting a session leaves its sub-agents, with all that was said, where nobody sees them.",
        "api/sub_agents",
        Edit(
            "engine/sessions.py",
            "        while children := (await self._store.sessions(query)).sessions:\n",
            "        while children := ():\n",
        ),
    ),
)
