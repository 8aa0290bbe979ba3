"""How much of everything there may be, said as all settings are (`settings.py`)."""

from typing import Annotated

from msgspec import Meta

from tenuto.core.value import Value

MIB = 1024 * 1024


class LimitSettings(Value):
    max_body_bytes: Annotated[int, Meta(ge=1024, description="Largest JSON request body.")] = (
        10 * MIB
    )
    max_file_bytes: Annotated[int, Meta(ge=1024, description="Largest uploaded file.")] = 25 * MIB
    steps: Annotated[int, Meta(ge=1, description="Model requests that one run may make.")] = 50
    run_seconds: Annotated[float, Meta(gt=0, description="How long one run may take.")] = 3600
    stall_seconds: Annotated[
        float,
        Meta(gt=0, description="How long a provider may stay silent; a slow first token counts."),
    ] = 600
    connect_seconds: Annotated[
        float, Meta(gt=0, description="How long connecting to a provider may take.")
    ] = 30
    retry_seconds: Annotated[
        float,
        Meta(ge=0, description="The longest wait that a provider may ask for before a run fails."),
    ] = 300
    cost_usd: Annotated[
        float, Meta(ge=0, description="What one run may cost in US dollars; 0: no limit.")
    ] = 0
    loop_repeats: Annotated[
        int, Meta(ge=2, description="The same tool call with the same result ends a run.")
    ] = 4
    run_characters: Annotated[
        int, Meta(ge=1000, description="Characters that one run may store; then it ends.")
    ] = 16_000_000
    calls: Annotated[
        int, Meta(ge=1, le=1024, description="Tool calls that one answer of a model may make.")
    ] = 128
    head_seconds: Annotated[
        float, Meta(gt=0, description="How long a client may take for the head of a request.")
    ] = 10
    body_seconds: Annotated[
        float, Meta(gt=0, description="How long a client may stay silent in the middle of a body.")
    ] = 30
    unknown_connections: Annotated[
        int, Meta(ge=1, description="Connections without a token; a new one closes the oldest.")
    ] = 256
    wrong_tokens: Annotated[
        int, Meta(ge=1, description="Wrong tokens in a minute until an address has to wait.")
    ] = 30
    active_runs: Annotated[
        int,
        Meta(
            ge=0, description="Runs at once on one node; more wait, or run elsewhere; 0: no limit."
        ),
    ] = 0
    lease_seconds: Annotated[
        float,
        Meta(
            gt=3,
            description="With PostgreSQL: how long a node that is silent, but not dead, keeps its runs.",
        ),
    ] = 30
    fold_deltas_days: Annotated[
        float,
        Meta(ge=0, description="After this many days a finished part's deltas become one event."),
    ] = 30
