"""Where providers are written: `[[providers]]` in the file, and the usual environment variables."""

from collections.abc import Mapping, Sequence
from typing import Annotated

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from tenuto.config.command import CommandFailed, printed
from tenuto.config.mistake import Mistakes
from tenuto.config.provider import WITHOUT_SPACES, ModelSettings, ProviderSettings
from tenuto.config.reading import read_list, read_table
from tenuto.config.secret import Secret
from tenuto.core.preset import PRESETS, preset_for
from tenuto.core.provider import PUBLIC_URLS, ProviderKind, ProviderSource, is_openai
from tenuto.core.value import Value

WITH_ADDRESS = ("openai", "anthropic")
"""Whose address a variable may change, too."""
NAME = r"^[a-z0-9][a-z0-9_.-]*$"
HTTP_URL = r"^https?://[^/\s]\S*$"


class ProviderEntry(Value):
    """A provider as `[[providers]]` writes it."""

    name: Annotated[
        str,
        Meta(
            pattern=NAME,
            title="lower-case letters, digits, dots and dashes",
            description="The first half of `provider/model`; a preset's name fills in the rest.",
        ),
    ]
    kind: Annotated[
        ProviderKind | None,
        Meta(
            description="The wire that it speaks.", extra={"default": "the preset's, or `openai`"}
        ),
    ] = None
    base_url: Annotated[
        str,
        Meta(
            pattern=HTTP_URL,
            title="an http or https address",
            description="Where it is.",
            extra={"default": "the preset's, or the kind's public address"},
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
    api_key_command: Annotated[
        str,
        Meta(
            description="A shell command that prints the key, run once when the server starts; "
            "it gets 10 seconds.",
        ),
    ] = ""
    headers: Annotated[
        dict[str, Secret],
        Meta(description="Headers that every request carries besides."),
    ] = msgspec.field(default_factory=dict)
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
    entries = read_list(raw, ProviderEntry, "providers", source, mistakes)
    names = [entry.name for entry in entries]
    for name in sorted({name for name in names if names.count(name) > 1}):
        mistakes.say(f"providers ({source}): two are named {name}")
    return tuple(_provider(entry, source, environ, mistakes) for entry in entries)


def environment_providers(
    environ: Mapping[str, str], mistakes: Mistakes
) -> tuple[ProviderSettings, ...]:
    """`OPENAI_API_KEY`, and each preset's variable, makes a provider of that name."""
    made = []
    for preset in PRESETS:
        key = environ.get(preset.variable) if preset.variable else None
        if not key:
            continue
        prefix = preset.name.upper()
        entry: dict[str, object] = {"name": preset.name, "api_key": key.strip()}
        if preset.name in WITH_ADDRESS and (url := environ.get(f"{prefix}_BASE_URL")):
            entry["base_url"] = url.strip()
        read = read_table(entry, ProviderEntry, prefix, "environment", mistakes)
        if read is not None:
            provider = _provider(read, "environment", environ, mistakes)
            made.append(replace(provider, source=ProviderSource.ENVIRONMENT))
    return tuple(made)


def with_environment(
    file: Sequence[ProviderSettings], environment: Sequence[ProviderSettings]
) -> tuple[ProviderSettings, ...]:
    """The file's providers, then the environment's; of one name, the file's.

    An entry of the file with neither key nor address of its own takes both from the
    environment. Never one without the other: a key belongs to an address.
    """
    by_name = {provider.name: provider for provider in environment}
    merged = tuple(
        replace(by_name[provider.name], models=provider.models, headers=provider.headers)
        if provider.name in by_name and _has_nothing_of_its_own(provider)
        else provider
        for provider in file
    )
    taken = {provider.name for provider in file}
    return merged + tuple(provider for provider in environment if provider.name not in taken)


def _has_nothing_of_its_own(provider: ProviderSettings) -> bool:
    return provider.api_key is None and provider.base_url == _address(provider.name, provider.kind)


def _provider(
    entry: ProviderEntry, source: str, environ: Mapping[str, str], mistakes: Mistakes
) -> ProviderSettings:
    kind = entry.kind or _kind(entry.name, entry.base_url)
    where = f"providers.{entry.name}"
    if entry.kind is None and not entry.base_url and preset_for(entry.name) is None:
        names = ", ".join(preset.name for preset in PRESETS if preset.base_url)
        mistakes.say(f"{where} ({source}): give a base_url, or a name that we know: {names}")
    return ProviderSettings(
        name=entry.name,
        kind=kind,
        base_url=(entry.base_url or _address(entry.name, kind)).rstrip("/"),
        api_key=_key(entry, where, source, environ, mistakes),
        headers=entry.headers,
        models=entry.models,
    )


def _kind(name: str, base_url: str) -> ProviderKind:
    """Someone else's address under OpenAI's name means chat completions, as everywhere."""
    preset = preset_for(name)
    if preset is None:
        return ProviderKind.OPENAI
    stranger = base_url and preset.kind is ProviderKind.OPENAI_RESPONSES and not is_openai(base_url)
    return ProviderKind.OPENAI if stranger else preset.kind


def _address(name: str, kind: ProviderKind) -> str:
    preset = preset_for(name)
    return preset.base_url if preset and preset.kind is kind else PUBLIC_URLS[kind]


def _key(
    entry: ProviderEntry, where: str, source: str, environ: Mapping[str, str], mistakes: Mistakes
) -> Secret | None:
    ways = [w for w in ("api_key", "api_key_env", "api_key_command") if getattr(entry, w)]
    if len(ways) > 1:
        mistakes.say(f"{where} ({source}): give {' or '.join(ways)}, not both")
    if entry.api_key_command:
        try:
            return printed(entry.api_key_command, environ)
        except CommandFailed as failure:
            mistakes.say(f"{where}.api_key_command ({source}): {failure}")
    if entry.api_key_env:
        held = environ.get(entry.api_key_env, "").strip()
        if not held:
            mistakes.say(
                f"{where}.api_key_env ({source}): the environment has no {entry.api_key_env}"
            )
        return Secret(held)
    return entry.api_key
