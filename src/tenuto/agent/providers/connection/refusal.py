"""What a refusal means: which trouble it is, and in which words people are told."""

import re
from typing import NamedTuple

from tenuto.agent.providers.connection.complaint import READ_CHARACTERS, Complaint
from tenuto.ports.model import Trouble

OPTIONAL = (
    *("max_tokens", "max_completion_tokens", "max_output_tokens"),
    *("temperature", "top_p", "response_format", "text.format", "stop_sequences"),
    *("reasoning_effort", "reasoning", "thinking", "enable_thinking", "effort", "output_config"),
    *("chat_template_kwargs", "stream_options", "parallel_tool_calls"),
    *("prompt_cache_key", "cache_control"),
)
"""Fields that a request can do without, as refusals name them."""
WORDS = ("stop", "seed", "metadata", "include", "think", "options")
"""Such fields, too, where they are not just words of the sentence."""

_TOO_LONG = re.compile(
    r"context_length_exceeded|exceed_context_size|request_too_large|tokens_limit_reached"
    r"|context_window_exceeded|maximum context length|prompt (?:is )?too long"
    r"|exceed(?:s|ed)? (?:the |model |max )*(?:available )?context|exceeds? context limit"
    r"|input token count|maximum number of tokens allowed|input is too long"
    r"|maximum prompt length|reduce the length|exceeded model token limit"
    r"|(?:greater|longer|larger) than the (?:model's )?context length"
    r"|longer than the maximum model length|inputs?` tokens \+ `max_new_tokens"
    r"|range of input length|context window exceeds|prompt exceeds max length"
    r"|request too large|request entity too large|model's context length is only"
)
_TOOLS = re.compile(
    r"(?:not|n't) support (?:\w+ ){0,2}(?:tool|function)|support tool use"
    r"|tool choice requires --enable|tools param requires"
    r"|(?:tools?|tool[_ ](?:calling|calls|use)|function[_ ]calling)\W+(?:is|are) not (?:supp|enab)"
)
_SEALS = re.compile(
    r"invalid `?signature|invalid_encrypted_content|encrypted content .{0,80}could not be"
)
_IMAGE = re.compile(
    r"\bimages?\b|\bpdfs?\b|image_url|\bmulti-?modal\b|mmproj|content'? must be a string"
)
_BLIND = re.compile(
    r"support|multi-?modal|mmproj|must be a string|expected `text`|not enabled|missing data"
)
_TOO_MANY_OUT = re.compile(
    r"max_(?:completion_|output_)?tokens\W{0,3} ?(?:is |are )?(?:too large|\d)"
)
_NOT_TAKEN = re.compile(
    r"unsupported|not? support|not supported|unrecogni[sz]ed|unknown|extra input|extra_forbidden"
    r"|not permitted|not allowed|only allowed|is allowed for|cannot find field|invalid[_ ](?:value|param)"
    r"|unexpected|deprecated|may only be set|cannot both|not compatible|incompatible|not available"
    r"|must be verified|which is the maximum|too large|additional propert"
)
_NAMES = re.compile(
    "|".join(rf"\b{re.escape(name)}\b" for name in sorted(OPTIONAL, key=len, reverse=True))
    + rf"|(?<=[`'\": ])(?:{'|'.join(WORDS)})(?=[`'\":,.]|$)"
)
_PLACE = re.compile(r"[a-z_]{1,32}(?:\.[a-z_]{1,32}){0,3}")
_BUSY = re.compile(r"rate_?limit|too many requests|resource_exhausted|throttl")
_OVERLOADED = re.compile(r"overloaded|at capacity|engine is currently|unavailable")
REQUEST_STATUSES = frozenset({0, 400, 404, 405, 415, 422, 500, 501})
"""With which providers refuse what is in a request; none: inside an answer."""
EVERY_IMAGE = "model"
"""The parameter of a refusal of files: not this one, but any, by this model."""
SEAL = "signature"
"""The parameter of a refusal of what the provider itself had sealed."""
ALL = frozenset({*OPTIONAL, *WORDS, "text"})


class Refusal(NamedTuple):
    trouble: Trouble
    words: str
    """What follows the provider's name; what the provider said itself follows it."""
    parameter: str = ""


def refusal(status: int, said: Complaint) -> Refusal:
    """What to make of it; the status is 0 for an error inside an answer."""
    words = said.words.lower()
    found = _too_long(status, words) or _about_request(status, said, words)
    found = found or _about_provider(status, said, words)
    return found._replace(words=found.words.replace(" #", f" ({status})" if status else ""))


def _too_long(status: int, words: str) -> Refusal | None:
    if status != 413 and (_TOO_MANY_OUT.search(words) or not _TOO_LONG.search(words)):
        return None
    return Refusal(
        Trouble.TOO_LONG,
        "was told more than this model can take #; make the conversation shorter, or use a model "
        "with a larger window",
    )


def _about_request(status: int, said: Complaint, words: str) -> Refusal | None:
    # Without support for it, an address or a model that is not there only has such a name.
    if status not in REQUEST_STATUSES or (status == 404 and "support" not in words):
        return None
    if _TOOLS.search(words) or (said.parameter == "tools" and _NOT_TAKEN.search(words)):
        words = "says that this model cannot use tools #; use another one, or chat mode"
        return Refusal(Trouble.TOOLS, words)
    if _IMAGE.search(words):
        return _image(words)
    if _SEALS.search(words):
        words = "refused earlier thoughts of the model #; begin a new session, or use another model"
        return Refusal(Trouble.PARAMETER, words, SEAL)
    if name := _parameter(said, words):
        words = f"does not take `{name}` with this model #; leave it out, or use another model"
        return Refusal(Trouble.PARAMETER, words, name)
    return None


def _image(words: str) -> Refusal:
    if _BLIND.search(words):
        words = "takes no such files with this model #; use another one, or leave the file out"
        return Refusal(Trouble.IMAGE, words, EVERY_IMAGE)
    words = "refused an attached file #; send it smaller or in another form, or leave it out"
    return Refusal(Trouble.IMAGE, words)


def _parameter(said: Complaint, words: str) -> str:
    """The optional field that is not taken; empty if it is none, or none of these."""
    if not _NOT_TAKEN.search(words):
        return ""
    named = _PLACE.match(said.parameter)
    if named and named[0].partition(".")[0] in ALL:
        return named[0]
    message = said.message[:READ_CHARACTERS].lower()
    first = _NAMES.search(message)
    place = _PLACE.match(message, first.start()) if first else None
    return place[0] if place else ""


def _about_provider(status: int, said: Complaint, words: str) -> Refusal:
    if status == 402 or said.unpaid:
        return Refusal(Trouble.OTHER, "has no credit left for this key #; look at its billing page")
    if status == 429 or (not status and _BUSY.search(words)):
        return Refusal(Trouble.BUSY, "had too many requests #; wait a little, or use another model")
    if status in (503, 529) or (not status and _OVERLOADED.search(words)):
        return Refusal(Trouble.OVERLOADED, "is overloaded #; try again later, or use another model")
    if status >= 500:
        return Refusal(Trouble.OVERLOADED, f"answered {status}")
    return Refusal(Trouble.OTHER, f"answered {status}" if status else "broke off with an error")
