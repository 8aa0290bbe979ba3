"""How things end: runs with their reasons, answers, tool calls and questions."""

REASONS = {
    "completed": {"end_turn", "max_tokens", "content_filter", "step_limit", "time_limit", "loop"},
    "cancelled": {"user", "disconnect", "replaced", "withdrawn", "deleted"},
    "failed": {
        "provider_error",
        "provider_stalled",
        "no_response",
        "budget",
        "model_not_found",
        "too_large",
        "storage",
        "internal",
    },
    "interrupted": {"server_stopped", "server_crashed"},
}
ENDINGS = frozenset(REASONS)

FINISH_REASONS = {"cancelled": "cancelled", "failed": "error", "interrupted": "interrupted"}
"""How the answer of a run ends that ended so; that of a completed one ends with its reason."""

OPEN_CALLS = ("input_streaming", "waiting_approval", "running")
STOPPED_CALLS = ("cancelled", "interrupted")
NEXT_OF_CALL = {
    "input_streaming": ("input_streaming", "waiting_approval", "running", "failed", "denied"),
    "waiting_approval": ("running", "denied"),
    "running": ("running", "done", "failed"),
}
"""What an open call may become; stopped it may be at any time."""

ANSWERS = {
    "approval": ("allowed", "denied", "cancelled"),
    "question": ("answered", "dismissed", "cancelled"),
}
"""What a request to a person may become."""
