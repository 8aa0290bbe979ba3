"""Wishes on the chat-completions wire: one field for most of them, and many ways to think."""

import ipaddress
from typing import Any

from tenuto.agent.providers.wires.wishes import effort_of, given, is_of
from tenuto.core.options import Effort
from tenuto.ports.model import Model, ModelRequest

OPENAI = ("openai.com", "openai.azure.com")
OPENROUTER = "openrouter.ai"
MISTRAL = "mistral.ai"
SWITCHED = ("moonshot.ai", "moonshot.cn", "z.ai", "bigmodel.cn")
"""They can be told to think or not to, not how hard."""
DEEPSEEK = {Effort.LOW: "low", Effort.MEDIUM: "high", Effort.HIGH: "high", Effort.MAX: "max"}
MOST_STOPS = 4


def wishes(request: ModelRequest, model: Model, host: str) -> dict[str, Any]:
    """Fields of the body; metadata has none here that is taken without keeping the answer there."""
    options, effort = request.options, effort_of(request, model)
    return given(
        temperature=options.temperature,
        top_p=options.top_p,
        stop=list(options.stop[:MOST_STOPS]) if options.stop else None,
        **{"random_seed" if is_of(host, MISTRAL) else "seed": options.seed},
        response_format=options.response_format,
        prompt_cache_key=request.cache_key[:64] or None if is_of(host, *OPENAI) else None,
        **({} if effort is None else _thinking(effort, host)),
    )


def _thinking(effort: Effort, host: str) -> dict[str, Any]:
    on = effort is not Effort.NONE
    switch = {"type": "enabled" if on else "disabled"}
    if is_of(host, OPENROUTER):
        return {"reasoning": {"effort": _word(effort, most="xhigh")}}
    if is_of(host, "deepseek.com"):
        return given(thinking=switch, reasoning_effort=DEEPSEEK.get(effort))
    if is_of(host, *SWITCHED):
        return {"thinking": switch}
    if is_of(host, "aliyuncs.com"):
        return {"enable_thinking": on}
    if is_of(host, MISTRAL):
        return {"reasoning_effort": "high" if on else "none"}
    if _is_at_home(host):
        # The template of the model decides which of the two it knows.
        word = _word(effort, most="high") if on else None
        return given(reasoning_effort=word, chat_template_kwargs={"enable_thinking": on})
    return {"reasoning_effort": _word(effort, most="xhigh" if is_of(host, *OPENAI) else "high")}


def _word(effort: Effort, *, most: str) -> str:
    return most if effort is Effort.MAX else str(effort)


def _is_at_home(host: str) -> bool:
    """Whether it is one's own server and not a hosted one."""
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return "." not in host or host.endswith((".local", ".lan", ".internal"))
