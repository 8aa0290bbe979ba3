"""Mutants of the engine: what wakes, writes, shows and rescues."""

from tests.proof.mutation.mutant import Edit, mutant

MUTANTS = (
    mutant(
        "what waits for a person interrupted by a crash",
        "A run that only waits for an answer ends with the server that had asked.",
        "api/waiting sim",
        Edit(
            "engine/rescuer.py",
            "    return with_result(parked, desk.held_by(fence)) if parked.result else None",
            "    return None",
        ),
    ),
    mutant(
        "what waits for a person interrupted by a stop",
        "A drain takes a run that only waits for an answer for one that works.",
        "api/waiting",
        Edit("engine/driver.py", "or not self.work.only_waits or self", "or True or self"),
        Edit("engine/driver.py", "active.is_left or active.is_interrupted:", "active.is_left:"),
    ),
    mutant(
        "a parked run that an answer does not wake",
        "What was answered while nobody worked on it is never gone on with.",
        "api/waiting sim",
        Edit(
            "core/parking.py",
            "return control if control.parked is None else replace(control, parked=Parking.DUE)",
            "return control",
        ),
    ),
    mutant(
        "a parked run that begins anew",
        "Whoever goes on with a run forgets what it had used.",
        "api/waiting",
        Edit(
            "engine/work.py",
            "self.meter = Meter(None if started.pause is None else started.pause.usage)",
            "self.meter = Meter()",
        ),
    ),
    mutant(
        "a tool that begins before it is stored",
        "Whoever finds the run after a crash takes the call for one that was not begun.",
        "toolbox",
        Edit(
            "engine/toolbox.py",
            "        _record(work, part)\n        await work.recorder.flush()\n",
            "        _record(work, part)\n",
        ),
    ),
    mutant(
        "lost wake-up",
        "A prompt that comes while the lane finds nothing to do is never started.",
        "lane api/queue api/stuck race",
        Edit("engine/coordinator.py", "return lane.changes > before", "return False"),
    ),
    mutant(
        "lost wake-up at the end",
        "A prompt that comes just after a run's ending is never started.",
        "lane api/queue api/stuck race",
        Edit("engine/coordinator.py", "and lane.active.heard <= 1:", "or False:"),
    ),
    mutant(
        "lost wake-up in the queue",
        "A prompt that waits while a run ends is never started.",
        "lane api/queue api/stuck race",
        Edit("engine/driver.py", "not change.control.queue", "True"),
    ),
    mutant(
        "an answer taken from memory that the log knows better",
        "A run stopped in the middle of a steer is settled in the message that it left.",
        "lane found",
        Edit(
            "engine/driver.py",
            "            except _WentOn:\n                active.worked = False",
            "            except _WentOn:\n                raise",
        ),
    ),
    mutant(
        "no look after the start",
        "A cancel between the start's commit and the lane's knowing of it is not seen.",
        "lane race",
        Edit(
            "engine/coordinator.py",
            "if lane.changes > before + 1 + max(0, lane.expected - before):",
            "if lane.changes > before + 9:",
        ),
    ),
    mutant(
        "looks only once",
        "A cancel that comes while the lane is looking is not looked at.",
        "lane race api/cancel",
        Edit(
            "engine/coordinator.py",
            "while lane.look_again and active.stopped is None:",
            "for _ in range(1):",
        ),
    ),
    mutant(
        "fenced driver goes on",
        "The driver of a deleted session keeps its model and its tools at work.",
        "api/stale api/lying",
        Edit(
            "engine/coordinator.py",
            "except NotFound:\n                active.lose()\n",
            "except NotFound:\n",
        ),
        Edit(
            "engine/coordinator.py",
            "if control.epoch != active.started.fence.epoch:\n                active.lose()\n",
            "if control.epoch != active.started.fence.epoch:\n",
        ),
    ),
    mutant(
        "no shield on the last write",
        "A driver that is told to go while it settles leaves its run without an ending.",
        "protect",
        Edit(
            "engine/driver.py",
            "run = await finish(last, seconds=LAST_WRITE_SECONDS)",
            "run = await last",
        ),
    ),
    mutant(
        "pending text dropped on cancel",
        "What was recorded and not yet stored is not waited for at the end.",
        "lane api/lost api/cancel race",
        Edit(
            "engine/driver.py",
            "await work.recorder.flush()\n        except Fenced:",
            "await anyio.sleep(0)\n        except Fenced:",
        ),
    ),
    mutant(
        "merge loses the tail",
        "When several pieces become one delta the last one is left out.",
        "recorder agent api/lost api/doubled",
        Edit(
            "engine/recorder.py",
            'text="".join(item.texts)',
            'text="".join(item.texts[:-1] or item.texts)',
        ),
    ),
    mutant(
        "offset in bytes",
        "A delta's offset counts bytes, so every emoji moves the rest.",
        "recorder agent api/lost api/doubled",
        Edit(
            "engine/recorder.py",
            "self._lengths[part_id] = offset + len(text)",
            "self._lengths[part_id] = offset + len(text.encode())",
        ),
    ),
    mutant(
        "cursor off by one",
        "A viewer that comes back misses the first event after its cursor.",
        "recorder api/streams api/doubled api/clients",
        Edit(
            "engine/tailer.py",
            "return self._frames[cursor + 1 - self._frames[0].seq :] or None",
            "return self._frames[cursor + 2 - self._frames[0].seq :] or None",
        ),
    ),
    mutant(
        "cursor repeats one",
        "A viewer that falls back to the log gets its last event again.",
        "recorder api/streams api/doubled conformance",
        Edit(
            "engine/tailer.py",
            "page = await self._log.read(stream, after=cursor, limit=PAGE)",
            "page = await self._log.read(stream, after=max(0, cursor - 1), limit=PAGE)",
        ),
    ),
    mutant(
        "gap ignored",
        "A viewer whose place is older than the shared frames goes on from the oldest of them.",
        "recorder api/streams api/resources api/doubled history",
        Edit(
            "engine/tailer.py",
            "if not self._frames or cursor + 1 < self._frames[0].seq:\n            return None\n"
            "        return self._frames[cursor + 1 - self._frames[0].seq :] or None",
            "if not self._frames:\n            return None\n"
            "        return self._frames[max(0, cursor + 1 - self._frames[0].seq) :] or None",
        ),
    ),
    mutant(
        "bell not rung",
        "Viewers see what was committed only when the slow look comes round.",
        "recorder api/clients api/streams",
        Edit(
            "engine/tailer.py",
            "            recent.add(events)\n        self._bell.ring(stream)",
            "            recent.add(events)",
        ),
    ),
    mutant(
        "cancel answers before the end",
        "A cancel says settled while its run still writes.",
        "api/lying api/cancel race",
        Edit(
            "engine/stops.py",
            "            run = await self._ended(session_id, cancelled.active)\n"
            "            settled = run.ended and not self._coordinator.works_for(session_id, run.id)",
            "            settled = True",
        ),
    ),
    mutant(
        "undo apart from the new run",
        "Retry removes in one transaction and accepts in another.",
        "apart",
        Edit(
            "engine/inbox.py",
            "            lambda desk: editing.ask_again(desk, message_id, prompt, self._node.moment(by=by)),",
            "            lambda desk: accepting.accept(desk, prompt, self._node.moment(by=by)),",
        ),
        Edit(
            "engine/inbox.py",
            "model=model, by=by)\n"
            "        run, _ = await self._store.commit(\n            session_id,\n"
            "            lambda desk: accepting.accept(desk, prompt, self._node.moment(by=by)),\n"
            "            sight=Sight.HISTORY,",
            "model=model, by=by)\n"
            "        await self.undo(session_id, by=by)\n"
            "        run, _ = await self._store.commit(\n            session_id,\n"
            "            lambda desk: accepting.accept(desk, prompt, self._node.moment(by=by)),\n"
            "            sight=Sight.HISTORY,",
        ),
    ),
    mutant(
        "rescuer ends live runs",
        "A run that its owner is working on is taken for one that was left.",
        "rescue api/detached api/stuck",
        Edit("engine/rescuer.py", "if desk.control.owner == self._node.id and", "if False and"),
        Edit(
            "storage/sqlite/queries.sql",
            "WHERE active_run IS NOT NULL AND owner IS NOT :node\n",
            "WHERE active_run IS NOT NULL AND :node IS NOT NULL\n",
        ),
        Edit("engine/rescuer.py", "ROUND_SECONDS = 5.0", "ROUND_SECONDS = 0.5"),
    ),
    mutant(
        "rescuer forgets the message",
        "A crashed run ends, and the answer that it had begun stays open.",
        "rescue api/persistence api/stuck",
        Edit(
            "engine/rescuer.py",
            "settling.settle(desk, fence, ending, answer, moment)",
            "settling.settle(desk, fence, ending, None, moment)",
        ),
    ),
    mutant(
        "what nobody waits for begins after a crash",
        "A run that waited for a connection begins when the one before it is rescued.",
        "rescue",
        Edit("engine/rescuer.py", "else (owner,)", "else ()"),
    ),
    mutant(
        "queued runs wait for ever after a crash",
        "Nobody looks at what waits when the server starts.",
        "rescue api/stuck api/persistence history",
        Edit(
            "engine/rescuer.py",
            "waiting = await self._store.waiting_sessions()",
            "waiting = await self._store.waiting_sessions() and ()",
        ),
    ),
    mutant(
        "attached runs outlive the crash",
        "A queued run whose connection died with the server runs for nobody.",
        "rescue api/detached",
        Edit(
            "engine/rescuer.py",
            "await self._drop_attached(session_id, here)",
            "pass",
        ),
    ),
    mutant(
        "whoever starts drops the runs of all",
        "A node that starts ends what waits for a connection that another node holds.",
        "rescue",
        Edit("engine/rescuer.py", "gone = held - others - {*here}", "gone = held - {*here}"),
    ),
    mutant(
        "a shutdown is a user's cancel",
        "A run that is cut off by SIGTERM says that its user stopped it.",
        "api/stopping api/lying",
        Edit(
            "engine/driver.py",
            "self._stop(RunStatus.INTERRUPTED, Reason.SERVER_STOPPED)",
            "self._stop(RunStatus.CANCELLED, Reason.USER)",
        ),
    ),
    mutant(
        "usage of stopped runs lost",
        "A cancelled run costs nothing in the books.",
        "api/limits api/cancel api/resources api/history",
        Edit(
            "engine/driver.py",
            "replace(ending, usage=work.usage())",
            "ending",
        ),
    ),
    mutant(
        "a queued prompt that ended is not found",
        "Changing a prompt that has just ended is answered as if it had never been.",
        "found",
        Edit(
            "engine/queue.py",
            "            await self._queued(run_id, by)\n            raise\n",
            "            raise\n",
        ),
    ),
)
