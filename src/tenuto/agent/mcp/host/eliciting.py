"""What a server wants to know from a person, as questions, and the answers as it wants them."""

from typing import Any

import mcp_types as types

from tenuto.agent.mcp import message

YES, NO = "Yes", "No"
TEXT_CHARACTERS = 1_500
CHOICE_CHARACTERS = 200
MOST_CHOICES = 30


def asked(params: types.ElicitRequestParams) -> message.Asks:
    if isinstance(params, types.ElicitRequestURLParams):
        return message.Asks(
            ask=0, id=None, key=0, text=params.message[:TEXT_CHARACTERS], url=params.url
        )
    schema = params.requested_schema
    required = set(schema.get("required", ()))
    wanted = tuple(
        _wanted(name, field, name in required)
        for name, field in schema.get("properties", {}).items()
        if isinstance(field, dict)
    )
    return message.Asks(ask=0, id=None, key=0, text=params.message[:TEXT_CHARACTERS], wanted=wanted)


def answered(
    params: types.ElicitRequestParams, answers: dict[str, Any] | None
) -> types.ElicitResult:
    if answers is None:
        return types.ElicitResult(action="decline")
    if isinstance(params, types.ElicitRequestURLParams):
        return types.ElicitResult(action="accept")
    fields = params.requested_schema.get("properties", {})
    content = {
        name: _typed(fields[name], said)
        for name, said in answers.items()
        if name in fields and said
    }
    return types.ElicitResult(action="accept", content=content)


def _wanted(name: str, field: dict[str, Any], required: bool) -> message.Wanted:
    title = str(field.get("title") or name)
    about = str(field.get("description") or "")
    text = f"{title}: {about}" if about and about != title else title
    multiple = field.get("type") == "array"
    return message.Wanted(
        name=name,
        text=text[:TEXT_CHARACTERS],
        choices=tuple(
            one[:CHOICE_CHARACTERS]
            for one in _choices(field["items"] if multiple and "items" in field else field)
            if one.strip()
        )[:MOST_CHOICES],
        multiple=multiple,
        required=required,
    )


def _choices(field: dict[str, Any]) -> dict[str, Any]:
    """What can be chosen, by the words for it."""
    if field.get("type") == "boolean":
        return {YES: True, NO: False}
    titled = field.get("oneOf") or field.get("anyOf") or ()
    if titled:
        return {str(one.get("title", one.get("const"))): one.get("const") for one in titled}
    names = field.get("enumNames") or field.get("enum") or ()
    return {str(name): value for name, value in zip(names, field.get("enum", ()), strict=False)}


def _typed(field: dict[str, Any], said: list[str]) -> Any:
    """An answer as the schema wants it; one that does not fit goes as it was said."""
    if field.get("type") == "array":
        choices = _choices(field.get("items", {}))
        return [choices.get(one, one) for one in said]
    one = said[0]
    choices = _choices(field)
    if one in choices:
        return choices[one]
    try:
        match field.get("type"):
            case "integer":
                return int(one)
            case "number":
                return float(one)
            case "boolean":
                return one.strip().lower() in ("yes", "true", "1", "on")
    except ValueError:
        return one
    return one
