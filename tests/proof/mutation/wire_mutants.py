"""Mutants of what providers are asked: each makes a request that one of them refuses."""

from tests.proof.mutation.mutant import Edit, mutant

CONTEXT = "agent/context.py"
WIRES = "agent/providers/wires"

MUTANTS = (
    mutant(
        "a seal for anyone",
        "What one model signed is given to another, which refuses it for ever.",
        "stories",
        Edit(f"{WIRES}/seals.py", " or seal.model != self._model", ""),
    ),
    mutant(
        "names as they came",
        "A tool's name that a model made up goes back as it was written.",
        "stories",
        Edit(
            CONTEXT, 'return _NO_NAME.sub("_", name)[:NAME_CHARACTERS] or "unknown"', "return name"
        ),
    ),
    mutant(
        "longer ids",
        "The ids of calls are longer than one provider takes.",
        "stories",
        Edit(CONTEXT, "ID_CHARACTERS = 9\n", "ID_CHARACTERS = 11\n"),
    ),
    mutant(
        "a seal outlives its call",
        "A call that is told otherwise than it was made keeps its signature.",
        "stories agent",
        Edit(CONTEXT, "part.seal if as_made and part.seal is not UNSET", "part.seal if part.seal"),
    ),
    mutant(
        "no word for a missing signature",
        "Calls of other models go to Google unsigned.",
        "stories providers",
        Edit(f"{WIRES}/chat.py", "            extra = UNSIGNED\n", "            pass\n"),
    ),
    mutant(
        "thoughts are kept to oneself",
        "DeepSeek and Kimi are not told what was thought.",
        "stories providers",
        Edit(f"{WIRES}/chat.py", "        if self._told:\n", "        if not self._told:\n"),
    ),
    mutant(
        "a user interrupts",
        "A user speaks right after a tool where the model's template forbids it.",
        "stories providers",
        Edit(f"{WIRES}/chat.py", 'messages[-1]["role"] == "tool" and orderly', "not orderly"),
    ),
    mutant(
        "a thought at the end",
        "An answer that was cut off while it thought ends with a thought.",
        "stories providers",
        Edit(
            f"{WIRES}/anthropic.py",
            "            while said and said[-1]",
            "            while not said and said[-1]",
        ),
    ),
    mutant(
        "a limit beyond the model",
        "A prompt's limit goes out as it was wished, above what the model can answer.",
        "stories providers",
        Edit(f"{WIRES}/wishes.py", "return min(wished, model.max_output)", "return max(wished, 1)"),
    ),
    mutant(
        "pictures unchecked",
        "An image is sent whatever its size.",
        "stories agent",
        Edit(
            "agent/attachments/fitting.py",
            "if length > limits.image_bytes or max(seen.width, seen.height) > limits.image_pixels:",
            "if length > limits.image_bytes:",
        ),
    ),
    mutant(
        "impatience",
        "A provider that asks for forty seconds is asked again after thirty, and refuses again.",
        "agent",
        Edit(
            "agent/retries.py",
            "return max(error.retry_after, min(backoff, self._seconds))",
            "return min(30.0, max(error.retry_after, min(backoff, self._seconds)))",
        ),
    ),
    mutant(
        "nobody learns",
        "Chinese and code are measured as English, and outgrow the window.",
        "agent",
        Edit("agent/ruler.py", "        if tokens < ENOUGH_TOKENS:\n", "        if True:\n"),
    ),
)
