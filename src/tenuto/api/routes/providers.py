"""Model providers, to add and remove while the server runs. A key goes in and never comes out."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType
from starlette.responses import Response
from starlette.types import ASGIApp

from tenuto.api.call import Call, answer
from tenuto.api.endpoint import Endpoint
from tenuto.core.preset import PRESETS, Preset
from tenuto.core.provider import LONGEST_URL, MOST_MODELS, ProviderKind, ProviderSource
from tenuto.core.value import Value
from tenuto.engine.providers import ProviderDraft
from tenuto.ports.provider import ProviderStanding, Tested

Address = Annotated[str, Meta(max_length=LONGEST_URL)]
Key = Annotated[str, Meta(max_length=4000)]
Names = Annotated[tuple[str, ...], Meta(max_length=MOST_MODELS)]


class ProviderChange(Value, forbid_unknown_fields=True):
    kind: ProviderKind | None = None
    """Without it: as it is, or as the preset of this name."""
    base_url: Address | None = None
    """Without it: the preset's, or the kind's public address."""
    key: Key | UnsetType | None = UNSET
    """Without it, one that is kept stays; null: no key."""
    models: Names | None = None
    """Names, for a provider that does not list its models itself."""


class ProviderTry(Value, forbid_unknown_fields=True):
    name: str | None = None
    """Of a provider that is known: what is left out is taken from it."""
    kind: ProviderKind | None = None
    base_url: Address | None = None
    key: Key | UnsetType | None = UNSET
    models: Names | None = None


class ProviderNow(Value):
    name: str
    kind: ProviderKind
    base_url: str
    key: Literal["set", "missing"]
    source: ProviderSource
    """Only those of the `settings` can be changed here."""
    models: tuple[str, ...]
    """The names that were set by hand."""
    offers: int
    """How many models it offers now."""
    error: str | None
    """Why it could not be asked for its models; null if it could."""


class ProviderList(Value):
    providers: tuple[ProviderNow, ...]
    presets: tuple[Preset, ...]
    """What to fill in for those that people have."""


async def listing(call: Call) -> ASGIApp:
    standings = await call.to.providers.standings()
    now = tuple(_now(standing) for standing in standings)
    return answer(ProviderList(providers=now, presets=PRESETS))


async def put(call: Call) -> ASGIApp:
    wanted = await call.body(ProviderChange)
    standing = await call.to.providers.put(
        ProviderDraft(
            name=call.path("name"),
            kind=wanted.kind,
            base_url=wanted.base_url,
            key=wanted.key,
            models=wanted.models or (),
        )
    )
    return answer(_now(standing))


async def remove(call: Call) -> ASGIApp:
    await call.to.providers.remove(call.path("name"))
    return Response(status_code=204)


async def test(call: Call) -> ASGIApp:
    wanted = await call.body(ProviderTry)
    draft = ProviderDraft(
        name=wanted.name or "",
        kind=wanted.kind,
        base_url=wanted.base_url,
        key=wanted.key,
        models=wanted.models or (),
    )
    return answer(await call.to.providers.test(draft))


def _now(standing: ProviderStanding) -> ProviderNow:
    return ProviderNow(
        name=standing.name,
        kind=standing.kind,
        base_url=standing.base_url,
        key="set" if standing.has_key else "missing",
        source=standing.source,
        models=standing.models,
        offers=standing.offers,
        error=standing.error,
    )


ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/api/providers",
        handler=listing,
        tag="providers",
        summary="All providers and how they stand; keys are never shown",
        gives=ProviderList,
    ),
    Endpoint(
        method="POST",
        path="/api/providers/test",
        handler=test,
        tag="providers",
        summary="Try a provider without keeping anything of it",
        takes=ProviderTry,
        gives=Tested,
    ),
    Endpoint(
        method="PUT",
        path="/api/providers/{name}",
        handler=put,
        tag="providers",
        summary="Add a provider, or change one that was added; it counts at once",
        takes=ProviderChange,
        gives=ProviderNow,
    ),
    Endpoint(
        method="DELETE",
        path="/api/providers/{name}",
        handler=remove,
        tag="providers",
        summary="Forget a provider and its key; runs under way keep it to their end",
        status=204,
        codes=("not_found",),
    ),
)
