"""Mutants of permissions: more is allowed than anyone said."""

from tests.proof.mutation.mutant import Edit, mutant

MUTANTS = (
    mutant(
        "a deny that is outvoted",
        "What is forbidden is done because something nearer allows it.",
        "core",
        Edit(
            "core/rule.py",
            "    if any(rule.decision is Permission.DENY for rules in matching for rule in rules):\n",
            "    if False:\n",
        ),
    ),
    mutant(
        "a pattern grants what it cannot judge",
        "A line with a substitution in it is done because its first words are allowed.",
        "core",
        Edit(
            "core/rule.py",
            "    if subject.unclear:\n        return _judge_unclear",
            "    if False:\n        return _judge_unclear",
        ),
    ),
    mutant(
        "only the first command is judged",
        "git status; rm is allowed by git status.",
        "core",
        Edit(
            "core/rule.py", "for thing in subject.things or", "for thing in subject.things[:1] or"
        ),
    ),
    mutant(
        "substitutions in quotes are words",
        "A command inside double quotes runs without anyone having judged it.",
        "core",
        Edit(
            "core/shell_line.py",
            '            if mark == \'"\' and rest[at] in "$`":',
            "            if False:",
        ),
    ),
    mutant(
        "sudo is a command like others",
        "What comes after a word that runs others is not looked at.",
        "core",
        Edit("core/shell_line.py", "    if name in HIDING:", "    if False:"),
    ),
    mutant(
        "a suggestion grants the whole tool",
        "One command is allowed for the session, and every other goes with it.",
        "api/rules",
        Edit("core/rule.py", "return tool if pattern is None else", "return tool if True else"),
    ),
    mutant(
        "a link is judged by its name",
        "Keys are read through a link with a harmless name, and nobody is asked.",
        "api/rules",
        Edit(
            "agent/tools/built_in.py",
            "about_path(self.name, spot.shown)",
            "about_path(self.name, path)",
        ),
    ),
    mutant(
        "one answer covers everything that is asked",
        "A grant for one command answers what else waits, whatever it is.",
        "core",
        Edit(
            "core/consent.py",
            "            if other.id != approval_id and _is_covered(other, granting((grant,)))",
            "            if other.id != approval_id",
        ),
    ),
)
