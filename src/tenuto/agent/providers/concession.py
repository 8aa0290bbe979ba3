"""Concessions: what a model turned out not to take is left out of later requests, too."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from tenuto.agent.providers.connection.refusal import EVERY_IMAGE, SEAL
from tenuto.agent.providers.omission import (
    Place,
    files,
    place_of,
    remove,
    seals,
    value_at,
    without_caching,
    without_files,
    without_thoughts,
    without_tools,
)
from tenuto.ports.model import ModelRequest, ProviderError, Thought, Trouble

CACHING = frozenset({"cache_control", "prompt_cache_key"})
LIMITS = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
"""Two names of one field: whoever refuses one may take the other."""
MOST_CHANGES = 100
"""Of one model. What was learnt longest ago may be refused again."""
BY_VALUE = frozenset({"effort", "reasoning_effort", "think"})
"""Fields of which a model may take one value and refuse another."""

Change = Callable[[ModelRequest], ModelRequest]
Mend = Callable[[dict[str, Any]], None]


class Concessions:
    """Of one provider, learnt from its refusals and kept as long as it is."""

    def __init__(self, least: Mapping[str, Any]) -> None:
        self._least = least
        """What stands in place of a field that cannot be left out."""
        self._changes: dict[str, list[Change]] = {}
        self._mends: dict[str, list[Mend]] = {}
        self._tried: dict[str, set[str]] = {}
        """Fields that were refused, by model."""

    def request(self, request: ModelRequest) -> ModelRequest:
        """Without what its model does not take."""
        for change in self._changes.get(request.model, ()):
            request = change(request)
        return request

    def mend(self, model: str, body: dict[str, Any]) -> None:
        """Leave out the fields that the model does not take."""
        for mend in self._mends.get(model, ()):
            mend(body)

    def learn(self, error: ProviderError, request: ModelRequest, body: dict[str, Any]) -> str:
        """What is left out from now on, as a sentence for people; empty if nothing more can be.

        The request and the body are those that were refused, with all that was left out of them.
        """
        if learnt := _change(error, request):
            change, words = learnt
            changes = self._changes.setdefault(request.model, [])
            changes.append(change)
            del changes[:-MOST_CHANGES]
            return words
        place = place_of(body, error.parameter) if error.trouble is Trouble.PARAMETER else None
        if place is None or body[place[0]] == self._least.get(place[0]):
            return ""
        mend, instead = self._without(place, request.model, body)
        self._mends.setdefault(request.model, []).append(mend)
        return f"The model does not take `{'.'.join(place)}`: {instead}."

    def _without(self, place: Place, model: str, body: dict[str, Any]) -> tuple[Mend, str]:
        """What to do about the field, and how that is said."""
        name = place[0]
        if name in self._least:
            least = self._least[name]
            return partial(_lessen, name=name, least=least), f"{least} was asked for instead"
        tried = self._tried.setdefault(model, set())
        tried.add(name)
        other = LIMITS.get(name, "")
        if other and other not in tried:
            return partial(_rename, name=name, other=other), f"it was called `{other}` instead"
        refused = value_at(body, place) if place[-1] in BY_VALUE else None
        return partial(_leave_out, place=place, refused=refused), "it was left out"


def _change(error: ProviderError, request: ModelRequest) -> tuple[Change, str] | None:
    """What to change in the conversation itself, and how that is said."""
    match error.trouble, error.parameter:
        case Trouble.TOOLS, _ if request.tools:
            return without_tools, "The model cannot use tools: it answers without them."
        case Trouble.IMAGE, which if shown := files(request):
            if which == EVERY_IMAGE:
                return without_files, "The model takes no such files: they were left out."
            refused = frozenset(hash(file.content) for file in shown)
            return (
                partial(without_files, which=lambda file: hash(file.content) in refused),
                "The provider refused an attached file: it was left out.",
            )
        case Trouble.PARAMETER, name if name == SEAL and (sealed := seals(request)):
            broken = frozenset(hash(seal.data) for seal in sealed)
            return (
                partial(without_thoughts, which=lambda thought: _seal(thought) in broken),
                "The provider refused earlier thoughts of the model: they were left out.",
            )
        case Trouble.PARAMETER, name if name in CACHING and request.cache_key:
            return without_caching, f"The model does not take `{name}`: it was left out."
    return None


def _seal(thought: Thought) -> int | None:
    return hash(thought.seal.data) if thought.seal else None


def _lessen(body: dict[str, Any], *, name: str, least: Any) -> None:
    body[name] = least


def _rename(body: dict[str, Any], *, name: str, other: str) -> None:
    if name in body:
        body[other] = body.pop(name)


def _leave_out(body: dict[str, Any], *, place: Place, refused: Any) -> None:
    """Where the value matters, only that one."""
    value = value_at(body, place)
    if value is not None and (refused is None or value == refused):
        remove(body, place)
