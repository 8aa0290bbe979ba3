"""Mutants of processes: a command gets out, or stays."""

from tests.proof.mutation.mutant import Edit, mutant

MUTANTS = (
    mutant(
        "a sandbox that is only announced",
        "Commands write where they like while the page says that they cannot.",
        "sandbox",
        Edit(
            "agent/tools/processes/runner.py",
            "            if rules is not None:\n",
            "            if rules == -2:\n",
        ),
    ),
    mutant(
        "a data folder that can be read",
        "One command reads the token and owns the server.",
        "sandbox",
        Edit(
            "agent/tools/processes/landlock.py",
            "        if path in shut:\n",
            "        if not path:\n",
        ),
        Edit(
            "agent/tools/processes/landlock.py",
            '        if any(one.startswith(f"{path}/") for one in shut):\n',
            "        if not path:\n",
        ),
    ),
    mutant(
        "files that can be emptied",
        "What cannot be written can be cut to nothing.",
        "sandbox",
        Edit(
            "agent/tools/processes/landlock.py",
            "HANDLED = (1 << 15) - 1",
            "HANDLED = (1 << 14) - 1",
        ),
    ),
    mutant(
        "on that means auto",
        "Who wants a sandbox or nothing gets commands without one.",
        "sandbox",
        Edit(
            "agent/tools/processes/sandbox.py",
            "        if self._wish is SandboxWish.ON:\n            none",
            "        if False:\n            none",
        ),
    ),
    mutant(
        "rules of the file that nobody reads",
        "What the administrator forbade is asked about like anything else.",
        "api/sandbox",
        Edit("engine/rulebook.py", "*BY_DEFAULT, *self.written, *said", "*BY_DEFAULT, *said"),
    ),
)
