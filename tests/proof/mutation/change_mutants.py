"""Mutants of changes: what was there is lost, or somebody's work is overwritten."""

from tests.proof.mutation.mutant import Edit, mutant

MUTANTS = (
    mutant(
        "a revert that does not look",
        "What somebody changed since is overwritten.",
        "changes",
        Edit(
            "engine/changes.py",
            "if not (change.is_left(found) if self._way is Way.BACK else same(found, change.before)):",
            "if found is None and goal is None:",
        ),
    ),
    mutant(
        "permissions do not count",
        "Who took a file from others finds it open to them again.",
        "changes",
        Edit(
            "core/file_change.py",
            "return self.digest, 0 if self.link else self.mode, self.link",
            "return self.digest, 0, self.link",
        ),
    ),
    mutant(
        "changes of others in between",
        "What somebody wrote between two edits of a run goes with its revert.",
        "changes",
        Edit(
            "core/file_change.py",
            "        why = why or ELSE\n",
            "        why = why or step.why\n",
        ),
    ),
    mutant(
        "bytes that nobody keeps",
        "What was there is swept up after a day, and cannot be put back.",
        "conformance/things",
        Edit(
            "storage/plan.py",
            "                self.files += files_kept(thing) if isinstance(thing, FileChange) else ()\n",
            "",
        ),
    ),
    mutant(
        "a revert in the middle of its run",
        "Files are put back under the hands of the run that changes them.",
        "changes",
        Edit("engine/changes.py", "        if not run.ended:\n", "        if run is None:\n"),
        Edit(
            "core/changing.py",
            "    if desk.active is not None and desk.active.id == run_id:\n",
            "    if desk.active is None and run_id == '':\n",
        ),
    ),
    mutant(
        "two runs at once",
        "A revert takes back what another run's command did.",
        "changes",
        Edit(
            "agent/tools/files/witnesses.py",
            "                other.alone = window.alone = False\n",
            "                other.alone = window.alone = True\n",
        ),
    ),
    mutant(
        "a stopped command says nothing",
        "What it had changed cannot be taken back.",
        "changes",
        Edit(
            "agent/tools/files/witnesses.py",
            "                    await finish(work, seconds=AFTER_SECONDS)\n",
            "                    await work\n",
        ),
    ),
    mutant(
        "whatever is at the path",
        "A link on the way leads a witness out of the folder.",
        "witnesses",
        Edit(
            "agent/tools/processes/programs/witness.py",
            "            if stamp_of(os.fstat(file.fileno())) != stamp:\n"
            "                return None\n"
            "            content = file.read(FILE_BYTES + 1)\n"
            "            return content if stamp_of(os.fstat(file.fileno())) == stamp else None\n",
            "            return file.read(FILE_BYTES + 1)\n",
        ),
    ),
    mutant(
        "git's content is the file's",
        "What was changed in the moment git looked is restored as it was before.",
        "witnesses",
        Edit(
            "agent/tools/processes/programs/git_objects.py",
            "            and known.size == found.st_size & 0xFFFFFFFF\n",
            "",
        ),
        Edit(
            "agent/tools/processes/programs/git_objects.py",
            "            known.mtime_ns == found.st_mtime_ns\n",
            "            known.mtime_ns != 0\n",
        ),
    ),
    mutant(
        "drafts for ever",
        "What a killed server left beside a file stays in the workspace.",
        "api/drafts",
        Edit("wiring/server.py", "            await drafts.sweep()\n", ""),
    ),
    mutant(
        "drafts that nobody notes",
        "A start does not know what was left beside a file.",
        "drafts",
        Edit(
            "agent/tools/files/drafts.py", "os.write(note, _written(spot))", "os.write(note, b'')"
        ),
    ),
    mutant(
        "drafts of the living",
        "A server that starts takes the draft of another that writes.",
        "drafts",
        Edit(
            "agent/tools/files/drafts.py",
            "        fcntl.flock(note, fcntl.LOCK_EX | fcntl.LOCK_NB)\n",
            "",
        ),
    ),
    mutant(
        "drafts behind a link",
        "A link on the way to a draft leads out of the folder.",
        "drafts",
        Edit(
            "agent/tools/files/drafts.py",
            "    with suppress(FileNotFoundError), opened_parent(spot) as parent:\n"
            "        os.unlink(name, dir_fd=parent)\n",
            "    with suppress(FileNotFoundError):\n"
            "        os.unlink(os.path.join(spot.root, *spot.parts[:-1], name))\n",
        ),
    ),
)
