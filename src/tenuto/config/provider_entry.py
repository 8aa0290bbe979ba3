"""Where providers are written: `[[providers]]` in the file, and the usual environment variables."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from tenuto.config.kind import Field, fields_of, kind_of
from tenuto.config.mistake import Mistakes
from tenuto.config.provider import WITHOUT_SPACES, ModelSettings, ProviderSettings
from tenuto.config.secret import Secret
from tenuto.core.provider import PUBLIC_URLS, ProviderKind, ProviderSource, is_openai
from tenuto.core.value import Value
from tenuto.ports.model import Price

ENVIRONMENT = ("openai", "anthropic")
NAME = r"^[a-z0-9][a-z0-9_.-]*$"
S = TypeVar("S", bound=msgspec.Struct)
HTTP_URL = r"^https?://[^/\s]\S*$"


class ProviderEntry(Value):
    """A provider as `[[providers]]` writes it."""

    name: Annotated[
        str,
        Meta(
            pattern=NAME,
            title="lower-case letters, digits, dots and dashes",
            description="The first half of `provider/model`.",
        ),
    ]
    kind: Annotated[ProviderKind, Meta(description="The wire that it speaks.")]
    base_url: Annotated[
        str,
        Meta(
            pattern=HTTP_URL,
            title="an http or https address",
            description="Where it is.",
            extra={"default": "the kind's public address"},
        ),
    ] = ""
    api_key: Annotated[
        Secret | None,
        Meta(pattern=WITHOUT_SPACES, title="a text without spaces", description="The key itself."),
    ] = None
    api_key_env: Annotated[
        str,
        Meta(
            pattern=r"^\w+$",
            title="the name of a variable",
            description="The environment variable that holds the key.",
        ),
    ] = ""
    models: Annotated[
        tuple[ModelSettings, ...],
        Meta(
            description="What to know of its models.",
            extra={"default": "the provider lists them itself"},
        ),
    ] = ()


def file_providers(
    raw: object, source: str, environ: Mapping[str, str], mistakes: Mistakes
) -> tuple[ProviderSettings, ...]:
    """The providers of the file, in its order; what is wrong goes to `mistakes`."""
    entries = _read_list(raw, ProviderEntry, "providers", source, mistakes)
    names = [entry.name for entry in entries]
    for name in sorted({name for name in names if names.count(name) > 1}):
        mistakes.say(f"providers ({source}): two are named {name}")
    return tuple(_provider(entry, source, environ, mistakes) for entry in entries)


def environment_providers(
    environ: Mapping[str, str], mistakes: Mistakes
) -> tuple[ProviderSettings, ...]:
    """`OPENAI_API_KEY` and `ANTHROPIC_API_KEY` each make a provider of that name."""
    made = []
    for name in ENVIRONMENT:
        prefix = name.upper()
        key, url = environ.get(f"{prefix}_API_KEY"), environ.get(f"{prefix}_BASE_URL")
        if not key:
            continue
        kind = _kind_of(name, (url or "").strip())
        entry: dict[str, object] = {"name": name, "kind": str(kind), "api_key": key.strip()}
        if url:
            entry["base_url"] = url.strip()
        read = _read_table(entry, ProviderEntry, prefix, "environment", mistakes)
        if read is not None:
            made.append(
                replace(
                    _provider(read, "environment", environ, mistakes),
                    source=ProviderSource.ENVIRONMENT,
                )
            )
    return tuple(made)


def _kind_of(name: str, url: str) -> ProviderKind:
    """Someone else's address under OpenAI's variable means chat completions, as everywhere."""
    if name != "openai":
        return ProviderKind(name)
    ours = not url or is_openai(url)
    return ProviderKind.OPENAI_RESPONSES if ours else ProviderKind.OPENAI


def with_environment(
    file: Sequence[ProviderSettings], environment: Sequence[ProviderSettings]
) -> tuple[ProviderSettings, ...]:
    """The file's providers, then the environment's; of one name, the file's.

    An entry of the file with neither key nor address of its own takes both from the
    environment. Never one without the other: a key belongs to an address.
    """
    by_name = {provider.name: provider for provider in environment}
    merged = tuple(
        replace(by_name[provider.name], models=provider.models)
        if provider.name in by_name and _has_nothing_of_its_own(provider)
        else provider
        for provider in file
    )
    taken = {provider.name for provider in file}
    return merged + tuple(provider for provider in environment if provider.name not in taken)


def _has_nothing_of_its_own(provider: ProviderSettings) -> bool:
    return provider.api_key is None and provider.base_url == PUBLIC_URLS[provider.kind]


def _provider(
    entry: ProviderEntry, source: str, environ: Mapping[str, str], mistakes: Mistakes
) -> ProviderSettings:
    key = entry.api_key
    if entry.api_key_env:
        if key is not None:
            mistakes.say(
                f"providers.{entry.name} ({source}): give api_key or api_key_env, not both"
            )
        held = environ.get(entry.api_key_env, "").strip()
        if not held:
            mistakes.say(
                f"providers.{entry.name}.api_key_env ({source}): "
                f"the environment has no {entry.api_key_env}"
            )
        key = Secret(held)
    return ProviderSettings(
        name=entry.name,
        kind=entry.kind,
        base_url=(entry.base_url or PUBLIC_URLS[entry.kind]).rstrip("/"),
        api_key=key,
        models=entry.models,
    )


def _read_list(
    raw: object, struct: type[S], where: str, source: str, mistakes: Mistakes
) -> tuple[S, ...]:
    if not isinstance(raw, list):
        mistakes.wrong(where, raw, source, f"a list of tables: [[{where}]]")
        return ()
    read = (
        _read_table(item, struct, f"{where}[{index}]", source, mistakes)
        for index, item in enumerate(raw, start=1)
    )
    return tuple(item for item in read if item is not None)


def _read_table(
    raw: object, struct: type[S], where: str, source: str, mistakes: Mistakes
) -> S | None:
    if not isinstance(raw, dict):
        mistakes.wrong(where, raw, source, "a table")
        return None
    fields = {field.name: field for field in fields_of(struct)}
    for key in raw.keys() - fields.keys():
        names = [f"{where}.{name}" for name in fields]
        mistakes.unknown(f"{where}.{key}", source, names)
    before = mistakes.count
    values: dict[str, Any] = {}
    for name, field in fields.items():
        if name in raw:
            values[name] = _read_field(raw[name], field, f"{where}.{name}", source, mistakes)
        elif field.required:
            mistakes.say(f"{where}.{name} ({source}): is missing")
    return struct(**values) if mistakes.count == before else None


def _read_field(
    raw: object, field: Field, where: str, source: str, mistakes: Mistakes
) -> object | None:
    if field.hint == tuple[ModelSettings, ...]:
        return _read_list(raw, ModelSettings, where, source, mistakes)
    if field.hint == Price | None:
        return _read_table(raw, Price, where, source, mistakes)
    kind = kind_of(field.hint, field.meta)
    try:
        return kind.read(raw)
    except ValueError:
        mistakes.wrong(where, "(hidden)" if kind.secret else raw, source, kind.allowed)
        return None
