"""Web search as `[search]` says it."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated

from msgspec import Meta

from tenuto.config.mistake import Mistakes
from tenuto.config.secret import Secret
from tenuto.core.value import Value


class SearchKind(StrEnum):
    OFF = "off"
    SEARXNG = "searxng"
    BRAVE = "brave"
    TAVILY = "tavily"


class SearchSettings(Value):
    kind: Annotated[
        SearchKind,
        Meta(description="Who searches the web for agents (`search_web`); `off`: nobody."),
    ] = SearchKind.OFF
    url: Annotated[
        str,
        Meta(
            pattern=r"^https?://\S+$",
            title="an http or https address",
            description="Where it is; needed for SearXNG, whose settings must allow the format JSON.",
            extra={"default": "the service's own"},
        ),
    ] = ""
    api_key: Annotated[Secret | None, Meta(description="Its key; needed for Brave and Tavily.")] = (
        None
    )


def check_search(values: Mapping[str, object], mistakes: Mistakes) -> None:
    """What a kind cannot do without is a mistake to leave out."""
    kind = values.get("search.kind", SearchKind.OFF)
    if kind is SearchKind.SEARXNG and not values.get("search.url"):
        mistakes.say("search.url: say where SearXNG is, as https://name")
    if kind in (SearchKind.BRAVE, SearchKind.TAVILY) and not values.get("search.api_key"):
        mistakes.say(f"search.api_key: {kind} needs a key")
