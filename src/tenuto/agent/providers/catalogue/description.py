"""What a model can do: from what is set, what its server says, what is known, what its name shows."""

from collections.abc import Iterable, Sequence
from typing import Any

from tenuto.agent.providers.catalogue.almanac import Seller
from tenuto.agent.providers.catalogue.facts import Facts
from tenuto.agent.providers.catalogue.family import NO_CHAT, family_of
from tenuto.agent.providers.catalogue.said import Said, said_of
from tenuto.agent.providers.catalogue.setting import ModelSetting
from tenuto.ports.model import Model

DEFAULT_WINDOW = 128_000
MOST_MODELS = 2000
"""Of one provider; the largest list known has some hundreds. What is beyond it can be set by hand."""
USUAL = Facts(window=DEFAULT_WINDOW, abilities=("tools",))
NOTHING = Facts()


class Describer:
    """Makes the models of one provider from its listing."""

    def __init__(
        self,
        provider: str,
        *,
        settings: Sequence[ModelSetting] = (),
        usual: Facts = USUAL,
        seller: Seller | None = None,
        way: str = "",
    ) -> None:
        self._provider = provider
        self._settings = {setting.name: setting for setting in settings}
        self._usual = usual
        self._seller = seller
        self._way = way
        """What the provider's wire is called where a model has only one."""

    def listed(self, answer: Any) -> list[Model]:
        """The models of a listing that can chat, then those that are only set."""
        said = answer.get("data") or answer.get("models") if isinstance(answer, dict) else answer
        return self.offered(map(said_of, said if isinstance(said, list) else ()))

    def offered(self, entries: Iterable[Said | None]) -> list[Model]:
        named = {said.name: said for said in entries if said is not None}
        names = [n for n, said in named.items() if n in self._settings or self._can_chat(said)]
        del names[MOST_MODELS:]
        names += [name for name in self._settings if name not in named]
        return [self.model(name, named.get(name)) for name in names]

    def set_by_hand(self) -> list[Model]:
        return [self.model(name) for name in self._settings]

    def model(self, name: str, said: Said | None = None) -> Model:
        """This model, as well as it is known."""
        said = said or Said(name=name)
        setting = self._settings.get(name) or ModelSetting(name=name)
        known, family = self._known(name), family_of(name)
        rest = [facts for facts in (known, family, self._usual) if facts]
        capabilities = setting.capabilities
        if capabilities is None:
            capabilities = _capabilities(said, rest)
        efforts = setting.efforts or said.efforts or (known or family or NOTHING).efforts
        return Model(
            id=f"{self._provider}/{name}",
            name=name,
            provider=self._provider,
            context_window=_first(setting.context_window, said.window, *(f.window for f in rest))
            or DEFAULT_WINDOW,
            capabilities=capabilities,
            max_output=_first(setting.max_output, said.output, *(f.output for f in rest)),
            efforts=efforts if "reasoning" in capabilities else (),
            price=setting.price or said.price or (known.price if known else None),
            source=_source(setting, said, known, family),
        )

    def _known(self, name: str) -> Facts | None:
        return self._seller.facts(name) if self._seller else None

    def _can_chat(self, said: Said) -> bool:
        if not said.chats:
            return False
        known = self._known(said.name)
        if known is not None:
            return known.only in ("", self._way)
        mute = self._seller is not None and self._seller.is_mute(said.name)
        return not mute and not NO_CHAT.search(said.name.lower())


def _capabilities(said: Said, rest: Sequence[Facts]) -> tuple[str, ...]:
    found = next((facts.abilities for facts in rest if facts.abilities is not None), ())
    words = (*found, *(word for word in said.can if word not in found))
    return tuple(word for word in words if said.can.get(word, word in found))


def _first(*given: int | None) -> int | None:
    return next((number for number in given if number), None)


def _source(setting: ModelSetting, said: Said, known: Facts | None, family: Facts | None) -> str:
    if setting != ModelSetting(name=setting.name):
        return "file"
    if said.window:
        return "listing"
    if known:
        return "catalogue"
    return "family" if family else "default"
