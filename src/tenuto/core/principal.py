"""Who asks. Today that is always the owner; the past must be able to say so."""

from msgspec import UnsetType

from tenuto.core.value import PrincipalId, Value


class Principal(Value):
    """Somebody on whose behalf things are done and read."""

    id: PrincipalId


OWNER = Principal(id=PrincipalId("owner"))
"""Whoever shows the server's token. What was stored before anything said who is theirs."""

By = PrincipalId | UnsetType
"""Who caused something. UNSET, and not told: nobody did, the server goes on by itself."""
