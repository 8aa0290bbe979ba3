"""An ear: hears a vendor's answer with the product's own parser and builder, in memory."""

from collections.abc import Sequence
from typing import Any, cast

import msgspec
from msgspec import UNSET, UnsetType

from tenuto.agent.allowance import Allowance
from tenuto.agent.answer import AnswerBuilder
from tenuto.agent.attachments.fitting import fit
from tenuto.agent.providers.concession import Concessions
from tenuto.agent.providers.connection.errors import Border
from tenuto.agent.providers.kinds import KINDS
from tenuto.agent.providers.provider import MOST_CONCESSIONS
from tenuto.agent.providers.wires.wire import Wire
from tenuto.core.event import PartField
from tenuto.core.message import Message, Part, ToolPart
from tenuto.core.meter import Meter
from tenuto.core.projection import OpenMessage
from tenuto.core.value import PartId
from tenuto.engine.recorder import Recorder
from tenuto.ports.model import Finished, Model, ModelRequest, ProviderError
from tests.strict.refusal import Body, Refusal
from tests.strict.vendor import Vendor

WISHES = frozenset(
    {
        "chance_fits_the_model",
        "openai_thinks_without_chance",
        "kimi_has_one_temperature",
        "wishes_fit_the_model",
        "mistral_knows_the_fields",
    }
)
"""Rules about what a prompt may wish: which model takes what is not all known beforehand."""


class Heard:
    """What an answer left behind, and whether it came to its end."""

    def __init__(self, builder: AnswerBuilder, error: ProviderError | None) -> None:
        self.calls = builder.calls()
        self.finished: Finished | None = None if error else builder.finished
        self.error = error


class Ear:
    """Knows one vendor as the product does."""

    def __init__(self, vendor: Vendor) -> None:
        self.vendor = vendor
        self._wire: Wire = KINDS[vendor.kind].wire(vendor.base_url)
        self._border = Border(vendor.name, secret="")
        self._concessions = Concessions(self._wire.least)
        known = vendor.facts
        able = {"tools": known.calls, "vision": known.sees, "reasoning": known.thinks}
        able["documents"] = known.reads
        self.model = Model(
            id=f"{vendor.name}/{known.name}",
            name=known.name,
            provider=vendor.name,
            context_window=known.window,
            capabilities=tuple(name for name, has in able.items() if has),
            max_output=known.max_output,
        )

    def body(self, request: ModelRequest) -> dict[str, Any]:
        return self._wire.body(fit(request, self.model, self._wire.limits), self.model)

    def ask(self, request: ModelRequest) -> tuple[Body, Refusal | None]:
        """What is asked in the end, and why that is refused all the same.

        A wish that a model does not take may be refused once: the product learns it from the
        refusal's own words, and leaves it out.
        """
        for _ in range(MOST_CONCESSIONS + 1):
            asked = self._concessions.request(request)
            body = self.body(asked)
            self._concessions.mend(request.model, body)
            refusal = self.vendor.judge(body, self.vendor.facts)
            if refusal is None or refusal.rule not in WISHES:
                break
            error = self._border.refused(refusal.status, {}, msgspec.json.encode(refusal.body))
            if not self._concessions.learn(error, asked, body):
                break
        return body, refusal

    def hear(self, payloads: Sequence[bytes], into: "Pad", *, stem: str) -> Heard:
        """Take these events; they may end before the answer does."""
        reply = self._wire.answer(self._border, self.model)
        builder = AnswerBuilder(cast("Recorder", into), Meter(), Allowance(), stem=stem)
        for payload in payloads:
            builder.take(reply.feed([payload]))
            if reply.error is not None:
                return Heard(builder, reply.error)
        try:
            builder.take(reply.end())
        except ProviderError as error:
            return Heard(builder, error)
        return Heard(builder, None)


class Pad:
    """A recorder that keeps the message in memory."""

    def __init__(self, message: Message) -> None:
        self._open = OpenMessage(message)
        self.message_id = message.id

    def start(self, part: Part) -> None:
        self._open.put(part)

    def grow(self, part_id: PartId, text: str, field: PartField | UnsetType = UNSET) -> None:
        self._open.grow(part_id, text, field)

    def update(self, part: ToolPart) -> None:
        self._open.put(part)

    def part(self, part_id: PartId) -> Part:
        return self._open.part(part_id)

    def message(self) -> Message:
        return self._open.now()
