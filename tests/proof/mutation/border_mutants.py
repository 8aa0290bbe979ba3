"""Mutants of the last resort: what ends a run when a write fails in a way nobody thought of."""

from tests.proof.mutation.mutant import Edit, mutant

MUTANTS = (
    mutant(
        "no last resort",
        "An ending that cannot be stored as it is is tried as it is, for ever.",
        "resort sim",
        Edit(
            "engine/resort.py",
            "LADDER = (Resort.WHOLE, Resort.WHOLE, Resort.BARE, Resort.BARE, Resort.EMPTY)",
            "LADDER = (Resort.WHOLE,) * 5",
        ),
    ),
    mutant(
        "an answer that cannot be stored keeps its run",
        "The last resort still insists on the parts of the answer.",
        "resort",
        Edit("engine/resort.py", "Resort.BARE, Resort.EMPTY)", "Resort.BARE, Resort.BARE)"),
    ),
    mutant(
        "the recorder expects only our own errors",
        "What cannot even be sent to the store leaves everyone waiting for it.",
        "resort",
        Edit(
            "engine/recorder.py", "except Exception as trouble:", "except TenutoError as trouble:"
        ),
    ),
    mutant(
        "what cannot be recorded is waited for",
        "A failure that is no trouble of the store's is told to nobody.",
        "resort sim",
        Edit(
            "engine/recorder.py",
            "        self._trouble = error\n        self._progress.set()\n",
            "        self._progress.set()\n",
        ),
    ),
    mutant(
        "a lane dies of surprise",
        "A lane that cannot start a run for an unknown reason is gone, and its session stands.",
        "resort sim",
        Edit(
            "engine/coordinator.py", "        except Exception:\n", "        except SystemError:\n"
        ),
    ),
    mutant(
        "a rescue gives up",
        "A run that a crash left and whose ending is refused stays running.",
        "resort",
        Edit("engine/rescuer.py", "for resort in LADDER:", "for resort in LADDER[:1]:"),
    ),
    mutant(
        "own lost runs are nobody's",
        "A run of this node that nothing works on runs for ever.",
        "rescue",
        Edit("engine/rescuer.py", ", *await self._lost_here()]", "]"),
    ),
    mutant(
        "a bill that takes its run along",
        "A run whose usage cannot be booked does not end.",
        "storage",
        Edit(
            "storage/sqlite/projecting.py",
            "except (*ABOUT_THE_CONTENT, OverflowError, ValueError, TypeError):",
            "except ABOUT_THE_CONTENT:",
        ),
    ),
    mutant(
        "a sum without an end",
        "A day's tokens outgrow their column, and no later run of that day can end.",
        "storage",
        Edit(
            "storage/sqlite/queries.sql",
            "input_tokens = MIN(input_tokens + excluded.input_tokens, 1 << 53)",
            "input_tokens = input_tokens + excluded.input_tokens",
        ),
    ),
    mutant(
        "upkeep dies for good",
        "A janitor or rescuer that meets something unknown is never seen again.",
        "protect",
        Edit("engine/upkeep.py", "    while True:\n", "    for _ in range(1):\n"),
    ),
    mutant(
        "the rescuer dies of surprise",
        "One odd round ends the heartbeat.",
        "protect",
        Edit(
            "engine/rescuer.py",
            '                log.exception("a round of the rescuer failed")\n',
            "                raise\n",
        ),
    ),
    mutant(
        "a stop waits for the disk",
        "On a full disk a cancel stops nothing.",
        "stops",
        Edit(
            "engine/stops.py",
            "        self._coordinator.stop_now(session_id, reason)\n",
            "",
        ),
    ),
    mutant(
        "a late mark covers what came after",
        "A cancel that could not be stored at once takes later prompts along.",
        "stops",
        Edit("engine/stops.py", "up_to = control.accept_count", "up_to = control.accept_count + 9"),
    ),
    mutant(
        "what waits starts before its cancel is stored",
        "A prompt that a cancel covers starts in the moment in which the disk has room again.",
        "stops",
        Edit("engine/coordinator.py", "self._stopping.add(session_id)", "pass"),
    ),
    mutant(
        "a file that is gone is written",
        "Prompts are accepted into a database that nobody will find again.",
        "storage",
        Edit(
            "storage/sqlite/file/identity.py", "if not os.path.samestat(known, now):", "if False:"
        ),
    ),
)
