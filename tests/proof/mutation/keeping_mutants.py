"""Mutants of what nodes share: settings, keys, the token, and where folders are."""

from tests.proof.mutation.mutant import Edit, mutant

MUTANTS = (
    mutant(
        "a change begins anew",
        "Whoever changes one setting takes away what others have set.",
        "saved",
        Edit("engine/saved.py", "wanted = alter(self.now)", "wanted = alter(SavedSettings())"),
    ),
    mutant(
        "who was too late gives up",
        "A change fails because another node was quicker.",
        "saved",
        Edit(
            "engine/saved.py",
            "                except Conflict:\n                    continue\n",
            "                except Conflict:\n                    raise\n",
        ),
    ),
    mutant(
        "a value is kept whoever was quicker",
        "The store does not compare before it sets.",
        "keeping",
        Edit("storage/sqlite/queries.sql", "WHERE name = :key AND rev = :rev", "WHERE name = :key"),
    ),
    mutant(
        "a ring about settings is not heard",
        "What is set on one node does not count on the others.",
        "saved",
        Edit("engine/saved.py", "        if name != SETTINGS:\n", "        if True:\n"),
    ),
    mutant(
        "settings go back",
        "A look that was slow brings back what was set before.",
        "saved",
        Edit("engine/saved.py", "if kept.rev > self._rev:", "if True:"),
    ),
    mutant(
        "keys lie open",
        "The database has the keys of providers in plain.",
        "saved",
        Edit("engine/settings_body.py", "    if not held:\n", "    if True:\n"),
    ),
    mutant(
        "a key goes to any address",
        "Whoever changes the address of a provider in the database gets its key.",
        "saved",
        Edit("engine/settings_body.py", "{provider['name']} {provider['base_url']}", "key"),
    ),
    mutant(
        "what a newer version wrote is dropped",
        "A change on an older node takes away what a newer one has set.",
        "saved",
        Edit(
            "engine/settings_body.py",
            "msgspec.json.encode(over | ours)",
            "msgspec.json.encode(ours)",
        ),
    ),
    mutant(
        "an old file is not removed",
        "Keys that were taken over can still be read.",
        "old-settings",
        Edit("storage/old_settings.py", "        self._path.unlink(missing_ok=True)\n", ""),
    ),
    mutant(
        "an old file wins",
        "What is set on several nodes is replaced by what one of them had long ago.",
        "old-settings",
        Edit("wiring/translate.py", "    if await saved.inherit(old):", "    if True:"),
    ),
    mutant(
        "each node has a token of its own",
        "Behind a balancer nobody stays logged in.",
        "token",
        Edit(
            "wiring/storage.py",
            "        kept = await store.kept(TOKEN)\n    if kept",
            "    if kept",
        ),
    ),
    mutant(
        "an agent starts anywhere",
        "Tools work in a folder that is not there, or another one of that name.",
        "homes",
        Edit(
            "core/home.py",
            "    return not needs_folder(run) or is_home",
            "    return True or is_home",
        ),
        Edit(
            "engine/homes.py", "        return self._here.get(workspace_id)", "        return True"
        ),
    ),
    mutant(
        "an empty mount is taken for the folder",
        "An agent starts in a shared folder that is not mounted.",
        "homes",
        Edit(
            "engine/folders.py",
            "return workspace.id in (self.path(workspace) / MARK).read_text().split()",
            "return self.path(workspace).is_dir()",
        ),
    ),
    mutant(
        "a shared folder is anywhere",
        "A path with dots leads out of the folder of shared workspaces.",
        "homes",
        Edit(
            "engine/folders.py",
            "if not Path(path).is_relative_to(root) or path == root:",
            "if False:",
        ),
    ),
    mutant(
        "everyone says that a node is away",
        "All nodes write the same into every session that waits.",
        "homes",
        Edit(
            "engine/homes.py",
            "if not await self._store.lead(",
            "if False and not await self._store.lead(",
        ),
    ),
    mutant(
        "a run that started still waits",
        "A run says that its node is away while it works there.",
        "core",
        Edit("core/run.py", "started_at=now, waiting=None, held", "started_at=now, held"),
    ),
)
