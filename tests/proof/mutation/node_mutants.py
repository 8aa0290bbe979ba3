"""Mutants of several nodes: doubts, leases, rings and turns."""

from tests.proof.mutation.mutant import Edit, mutant

MUTANTS = (
    mutant(
        "what may be stored is sent again",
        "Events whose answer was lost are stored twice.",
        "doubt sim",
        Edit(
            "engine/recorder.py",
            "again = isinstance(error, StorageTrouble) and not isinstance(error, InDoubt)",
            "again = isinstance(error, StorageTrouble)",
        ),
    ),
    mutant(
        "a start in doubt has no driver",
        "A run whose start was stored and whose answer was lost is running, and nobody works on it.",
        "doubt sim",
        Edit("engine/coordinator.py", "            lane.in_doubt = True\n", ""),
    ),
    mutant(
        "an ending of what was still arriving",
        "A write in doubt arrives after the last look, and the message ends without it.",
        "doubt sim",
        Edit(
            "engine/driver.py",
            "if not self._store.shared or _is_known(active, work):",
            "if True:",
        ),
    ),
    mutant(
        "a doubted prompt runs for nobody",
        "An attached run whose acceptance was in doubt goes on without its connection.",
        "doubt",
        Edit("engine/inbox.py", "if prompt.on_disconnect is OnDisconnect.CANCEL:", "if False:"),
    ),
    mutant(
        "the owner may be alive",
        "A node that came back between the look and the write loses a run that it works on.",
        "nodes sim",
        Edit(
            "engine/rescuer.py",
            "dead = None if orphan.owner == self._node.id else orphan.owner",
            "dead = None",
        ),
    ),
    mutant(
        "the store does not look whether the owner lives",
        "The guard of a rescue is passed on and not looked at.",
        "storage nodes",
        Edit("storage/memory/store.py", "            self._must_be_dead(dead)\n", ""),
    ),
    mutant(
        "no self-fence",
        "A node that cannot keep its lease goes on working on what others have ended.",
        "heart sim",
        Edit("engine/heart.py", "        self._coordinator.fence()\n", ""),
    ),
    mutant(
        "starts without a lease",
        "What a fenced node starts is taken for an orphan at once.",
        "heart",
        Edit(
            "engine/coordinator.py",
            "if session_id in self._stopping or self._fenced:",
            "if session_id in self._stopping:",
        ),
    ),
    mutant(
        "fenced for good",
        "A node that lost its lease once starts nothing any more.",
        "heart",
        Edit("engine/heart.py", "        self._coordinator.unfence()\n", ""),
    ),
    mutant(
        "a lease where there is none",
        "Where only one node can be, a store that is slow to answer ends its runs.",
        "heart",
        Edit(
            "engine/heart.py",
            "        if self._store.shared:\n            self._arm(sent)",
            "        if True:\n            self._arm(sent)",
        ),
    ),
    mutant(
        "a lane for every ring",
        "All nodes race for what one of them accepted.",
        "nodes",
        Edit(
            "engine/coordinator.py",
            "            if session_id in self._lanes:\n                self.changed(session_id)\n",
            "            self.changed(session_id)\n",
        ),
    ),
    mutant(
        "remote rings are not heard",
        "A cancel on another node waits for the next slow look.",
        "nodes sim",
        Edit(
            "engine/coordinator.py",
            "            if session_id in self._lanes:\n                self.changed(session_id)\n",
            "            pass\n",
        ),
    ),
    mutant(
        "the head may fall",
        "A late page takes a viewer back, and what is committed stays unseen.",
        "follower sim",
        Edit(
            "engine/tailer.py",
            "self.head = max(self.head or 0, events[-1].seq)",
            "self.head = events[-1].seq",
        ),
    ),
    mutant(
        "known events are taken again",
        "What was read from the log before it was told of is shown twice.",
        "follower sim",
        Edit(
            "engine/tailer.py",
            "                if stored.seq < after:\n                    continue\n",
            "",
        ),
    ),
    mutant(
        "an old page counts as new",
        "A ring that comes while a viewer reads is forgotten.",
        "follower sim",
        Edit("engine/tailer.py", "and whole and recent.rings == rings:", "and whole:"),
    ),
    mutant(
        "rings without a resync",
        "What was committed while rings were lost is not looked for.",
        "follower sim",
        Edit("engine/tailer.py", "        self.rang(tuple(self._recent))\n", ""),
    ),
    mutant(
        "the follower gives up",
        "Rung logs that could not be read are not read again.",
        "follower",
        Edit(
            "engine/follower.py",
            "                self._rung.update(dict.fromkeys(after))\n",
            "",
        ),
    ),
    mutant(
        "no turns",
        "Every node takes what another is about to begin.",
        "turns nodes",
        Edit("engine/turns.py", "return 0.0 if is_first else OTHERS_SECONDS", "return 0.0"),
    ),
    mutant(
        "what was just accepted is taken away",
        "A prompt starts on another node than the one that accepted it.",
        "nodes turns",
        Edit("engine/rescuer.py", "ACCEPTED_SECONDS = 1.0", "ACCEPTED_SECONDS = 0.0"),
    ),
    mutant(
        "a queue drains with its node",
        "What waits on a node that drains is not handed over at once.",
        "nodes",
        Edit("engine/rescuer.py", "after = 0.0 if is_handed_over else", "after ="),
    ),
    mutant(
        "a node's own clock",
        "A node whose clock is wrong says so in all that it writes.",
        "clock sim",
        Edit("engine/agreed_clock.py", "            self._ahead = ahead\n", ""),
    ),
    mutant(
        "runs outlive the connection of a dead node",
        "A run that ends with its connection goes on when the node that held it is gone.",
        "nodes",
        Edit(
            "engine/rescuer.py",
            "            await self._let_go_of_lost_connections()\n",
            "            pass\n",
        ),
    ),
    mutant(
        "connections of the living are dropped",
        "A run whose connection another node holds is cancelled.",
        "nodes rescue sim",
        Edit(
            "engine/rescuer.py",
            "disconnect(held - {*await self._store.living()})",
            "disconnect(held)",
        ),
        Edit("engine/rescuer.py", "        if held - self._heart.living:\n", "        if held:\n"),
    ),
    mutant(
        "a full node starts more",
        "The limit of runs at once does not hold.",
        "nodes",
        Edit("engine/coordinator.py", "return not is_full and not", "return not"),
    ),
    mutant(
        "who found no room is forgotten",
        "A prompt that came while the node was full waits for another node's look.",
        "nodes",
        Edit("engine/coordinator.py", "            self._let_in()\n", ""),
    ),
    mutant(
        "a delete takes the run from its node",
        "A run on another node is ended without what it used.",
        "nodes",
        Edit(
            "engine/sessions.py",
            "            await self._end_elsewhere(session_id, check, by)\n",
            "            pass\n",
        ),
    ),
    mutant(
        "all nodes tidy",
        "Every node folds and purges the same logs.",
        "nodes",
        Edit("storage/memory/nodes.py", "if leader != node and until > now:", "if False:"),
    ),
    mutant(
        "who comes purges what others read",
        "A start removes the log of a deleted session that is still followed elsewhere.",
        "nodes",
        Edit("engine/janitor.py", "if not self._store.shared:", "if True:"),
    ),
    mutant(
        "no farewell",
        "What a node that stopped has left waits for its lease to run out.",
        "nodes",
        Edit(
            "engine/heart.py",
            "            await self._store.farewell(self._node.id)\n",
            "            pass\n",
        ),
    ),
)
