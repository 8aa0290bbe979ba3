"""Mutants at the edges: the disk, the models, the tools, HTTP."""

from tests.proof.mutation.mutant import Edit, mutant

TOLD_EARLY = """        self._loop.call_soon_threadsafe(self._deliver, outcomes)
        transaction.commit()
"""
ANSWERED_EARLY = """        self._loop.call_soon_threadsafe(
            lambda: [
                one.job.future.set_result(one.done.result)
                for one in outcomes
                if isinstance(one.done, Written) and not one.job.future.done()
            ]
        )
        transaction.commit()
"""

MUTANTS = (
    mutant(
        "published before the commit",
        "Viewers are shown events that a crash can still take back.",
        "commit storage conformance crash",
        Edit("storage/sqlite/file/writer.py", "        transaction.commit()\n", TOLD_EARLY),
        Edit(
            "storage/sqlite/file/writer.py",
            "outcomes = self._outcomes(jobs)\n"
            "            self._loop.call_soon_threadsafe(self._deliver, outcomes)",
            "self._outcomes(jobs)",
        ),
    ),
    mutant(
        "tokens starve the rest",
        "While anything streams, nothing else is ever written.",
        "storage",
        Edit(
            "storage/sqlite/file/handover.py",
            "slow_beside_quick if group else limit",
            "0 if group else limit",
        ),
    ),
    mutant(
        "writer sleeps on",
        "A job that comes just as the writer's thread lies down waits for the next one.",
        "storage",
        Edit(
            "storage/sqlite/file/handover.py",
            "if self._sleeping and not self._waking:",
            "if False:",
        ),
    ),
    mutant(
        "202 before the commit",
        "A prompt is answered before it is on disk.",
        "commit storage crash",
        Edit("storage/sqlite/file/writer.py", "        transaction.commit()\n", ANSWERED_EARLY),
    ),
    mutant(
        "a job's error swallowed by its group",
        "One that was refused in a shared transaction is told that it was done.",
        "storage conformance",
        Edit(
            "storage/sqlite/file/writer.py",
            "            return _Outcome(job, error)\n",
            "            return _Outcome(job, Written(result=None))\n",
        ),
    ),
    mutant(
        "commits are not flushed",
        "A power cut takes back what was answered.",
        "commit storage",
        Edit(
            "storage/sqlite/file/connection.py",
            "PRAGMA synchronous = FULL",
            "PRAGMA synchronous = OFF",
        ),
    ),
    mutant(
        "no fencing of appends",
        "A writer that lost its run goes on writing into it.",
        "conformance",
        Edit("storage/sqlite/file/appending.py", " or log.epoch != fence.epoch:", ":"),
    ),
    mutant(
        "remembered head not forgotten",
        "The next append numbers its events from a head that a decision has moved.",
        "conformance storage",
        Edit(
            "storage/sqlite/file/appending.py",
            "self._logs.pop(stream, None)",
            "self._logs.get(stream)",
        ),
    ),
    mutant(
        "idempotency key not stored",
        "The same prompt sent again after a lost answer is a second run.",
        "conformance api/once",
        Edit(
            "storage/sqlite/desks.py",
            "    if planned.deleted_at is None:\n        remember(",
            "    if False:\n        remember(",
        ),
    ),
    mutant(
        "another body under the same key",
        "A key that was used for something else gives that something back.",
        "conformance api/once",
        Edit("storage/once.py", "if once.digest != self.once.digest:", "if False:"),
    ),
    mutant(
        "messages in order of time",
        "A prompt that waited stands above the answer that it waited for.",
        "conformance api/doubled api/queue",
        Edit(
            "storage/sqlite/queries.sql",
            "WHERE session_id = :session_id AND seq > :after ORDER BY seq;",
            "WHERE session_id = :session_id AND seq > :after\n"
            "ORDER BY json_extract(body, '$.created_at'), id;",
        ),
    ),
    mutant(
        "head read apart from the messages",
        "A snapshot's cursor is newer than its transcript.",
        "apart history",
        Edit(
            "storage/sqlite/library.py",
            "        return await self._db.read(lambda tx: _snapshot(tx, session_id, most_messages))",
            "        taken = await self._db.read(lambda tx: _snapshot(tx, session_id, most_messages))\n"
            "        later = await self.session(session_id)\n"
            "        return SessionSnapshot(\n"
            "            session=later,\n"
            "            messages=taken.messages,\n"
            "            runs=taken.runs,\n"
            "            things=taken.things,\n"
            "        )",
        ),
    ),
    mutant(
        "fold of old deltas loses text",
        "Folding a finished answer's deltas drops the first of them.",
        "conformance",
        Edit(
            "storage/folding.py",
            'text = "".join(delta.text for _, delta in group)',
            'text = "".join(delta.text for _, delta in group[1:])',
        ),
    ),
    mutant(
        "retry after content was shown",
        "A model that broke off is asked again, and says it all twice.",
        "agent api/doubled",
        Edit("agent/asking.py", "if shown():", "if False:"),
    ),
    mutant(
        "results left out of the context",
        "The model is shown its tool calls without what they gave.",
        "agent",
        Edit(
            "agent/context.py",
            ", *self._results()]",
            "]",
        ),
    ),
    mutant(
        "partial answers left out of the context",
        "What a stopped run had said is shown to people and not to the model.",
        "agent api/lost",
        Edit(
            "agent/context.py",
            "            turns.extend(_assistant_turns(message, files, endings))",
            "            if message.finish_reason not in CUT_OFF:\n"
            "                turns.extend(_assistant_turns(message, files, endings))",
        ),
    ),
    mutant(
        "provider left open on cancel",
        "The provider goes on generating, and billing, after the stop.",
        "providers api/lying",
        Edit(
            "agent/providers/connection/exchange.py",
            "        else:\n            line.close()",
            "        else:\n            self._kept.append(line)",
        ),
    ),
    mutant(
        "no stall limit",
        "A provider that falls silent holds its run for ever.",
        "providers",
        Edit(
            "agent/providers/connection/line.py",
            "        if left > 0:\n",
            "        if left > -3600:\n            left = max(left, 1.0)\n",
        ),
    ),
    mutant(
        "the break before what came",
        "What a provider sent just before its connection broke is paid for and lost.",
        "providers",
        Edit(
            "agent/providers/connection/line.py",
            "        while not answer.body and not answer.over:\n",
            "        while self._trouble or not (answer.body or answer.over):\n",
        ),
    ),
    mutant(
        "remains of a server not waited for",
        "A server killed at a bad moment cannot be started again.",
        "storage",
        Edit(
            "storage/sqlite/file/lock.py",
            "        return False\n    except (",
            "        return True\n    except (",
        ),
    ),
    mutant(
        "half characters not joined",
        "A character that came in two pieces becomes two broken ones.",
        "providers",
        Edit(
            "agent/providers/connection/split.py",
            'elif text and "\\ud800" <= text[-1] <= "\\udbff":',
            "elif False:",
        ),
    ),
    mutant(
        "tool tree not ended",
        "What a command left in the background lives on after the stop.",
        "tools",
        Edit("agent/tools/processes/runner.py", "left = end_all(command)", "left = 0"),
    ),
    mutant(
        "leaving not noticed",
        "A silent stream learns only at its next write that its client has gone.",
        "api/detached api/lying",
        Edit(
            "api/sse.py",
            "            tasks.start_soon(self._watch, receive, tasks.cancel_scope)\n",
            "",
        ),
    ),
    mutant(
        "attached run left running",
        "Closing the stream of an attached run changes nothing.",
        "api/detached",
        Edit("api/routes/runs.py", "on_left=cancel if attached else None", "on_left=None"),
    ),
    mutant(
        "a run's stream begins too late",
        "The stream of a run does not show that it was accepted.",
        "api/streams api/detached",
        Edit("api/streams.py", "max(after, accepted - 1)", "max(after, accepted)"),
    ),
    mutant(
        "cursor ahead of the log trusted",
        "A viewer with a cursor from another life waits for events that never come.",
        "api/streams",
        Edit("api/streams.py", "return after if after <= head else None", "return after"),
    ),
)
