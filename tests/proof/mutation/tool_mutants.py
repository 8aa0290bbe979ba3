"""Mutants of tools: another's in the place of ours, an image that nobody keeps or sees."""

from tests.proof.mutation.mutant import Edit, mutant

MUTANTS = (
    mutant(
        "the last of a name",
        "Whoever brings a tool called shell takes the place of ours, and its permission.",
        "kit",
        Edit(
            "engine/kit.py",
            "{tool.spec.name: tool for tool in reversed(tools)}.values())[::-1]",
            "{tool.spec.name: tool for tool in tools}.values())",
        ),
    ),
    mutant(
        "one source for all",
        "A list of tools that cannot be read takes all others away from the run.",
        "kit",
        Edit("engine/kit.py", "            except Exception:\n", "            except OSError:\n"),
    ),
    mutant(
        "images that nobody keeps",
        "What a tool showed is swept up as a file that no session speaks of.",
        "conformance/files",
        Edit(
            "storage/plan.py",
            "                self.files += [file.file_id for file in given]\n",
            "                self.files += []\n",
        ),
    ),
    mutant(
        "images of what failed",
        "One provider refuses every later request of the session.",
        "stories",
        Edit(
            "agent/context.py",
            "((), ()) if failed else _images(call, files)",
            "_images(call, files)",
        ),
    ),
)
