"""A refusal: what a provider answers to a request that it does not take, in its own words."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.strict.facts import Facts

Body = Mapping[str, Any]


@dataclass(frozen=True)
class Refusal:
    words: str
    status: int = 400
    body: Any = None
    rule: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Complaint:
    """What a rule says is wrong; how that is told is the wire's."""

    words: str
    param: str | None = None
    code: str | None = None
    status: int = 400


Rule = Callable[[Body, Facts], Complaint | str | None]
Teller = Callable[[Complaint], Any]


@dataclass(frozen=True)
class Judge:
    """The rules of a wire, in the order in which they are looked at; the first that is broken tells."""

    rules: Sequence[Rule]
    tell: Teller

    def __call__(self, body: Body, facts: Facts) -> Refusal | None:
        for rule in self.rules:
            said = rule(body, facts)
            if said is not None:
                wrong = Complaint(said) if isinstance(said, str) else said
                return Refusal(wrong.words, wrong.status, self.tell(wrong), rule.__name__)
        return None


def as_openai(wrong: Complaint) -> Any:
    error = {"message": wrong.words, "type": "invalid_request_error"}
    return {"error": {**error, "param": wrong.param, "code": wrong.code}}


def as_anthropic(wrong: Complaint) -> Any:
    error = {"type": wrong.code or "invalid_request_error", "message": wrong.words}
    return {"type": "error", "error": error, "request_id": "req_strict"}


def as_google(wrong: Complaint) -> Any:
    # Its OpenAI-compatible address tells errors in a list.
    error = {"code": wrong.status, "message": wrong.words, "status": "INVALID_ARGUMENT"}
    return [{"error": error}]


def as_mistral(wrong: Complaint) -> Any:
    return {
        "object": "error",
        "message": wrong.words,
        "type": "invalid_request_error",
        "param": wrong.param,
        "code": wrong.code or "3230",
    }


def as_vllm(wrong: Complaint) -> Any:
    error = {"message": wrong.words, "type": "BadRequestError", "param": wrong.param}
    return {"error": {**error, "code": wrong.status}}


def as_ollama(wrong: Complaint) -> Any:
    return {"error": wrong.words}


def tokens_of(*said: Any) -> int:
    """As good a count as any: four bytes make a token; images count as they are seen, not sent."""
    return sum(_bytes(one) for one in said) // 4


def _bytes(said: Any) -> int:
    match said:
        case str():
            return 0 if said.startswith("data:") else len(said.encode("utf-8", "replace"))
        case Mapping():
            if said.get("type") == "base64":
                return 4 * 1500
            return sum(len(str(name)) + 4 + _bytes(value) for name, value in said.items())
        case list() | tuple():
            return sum(2 + _bytes(one) for one in said)
        case None:
            return 0
        case _:
            return len(str(said))
