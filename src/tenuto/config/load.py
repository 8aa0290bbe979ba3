"""From flags, environment and file to settings, with every mistake said at once."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from tenuto.config.limits import LimitSettings
from tenuto.config.mcp_entry import file_servers
from tenuto.config.mistake import ConfigError, Mistakes
from tenuto.config.provider import ProviderSettings
from tenuto.config.provider_entry import environment_providers, file_providers, with_environment
from tenuto.config.reading import read_list
from tenuto.config.rule_entry import RuleEntry
from tenuto.config.search import SearchSettings, check_search
from tenuto.config.settings import (
    POSTGRES_URL,
    SQLITE_URL,
    EmbeddedSettings,
    LogSettings,
    Settings,
    ToolLimits,
)
from tenuto.config.table import ENV_PREFIX, Setting, settings_table
from tenuto.core.value import Value

FILE_NAME = "tenuto.toml"
CONFIG_ENV = "TENUTO_CONFIG"
CONFIG_FLAG = "--config"
NOT_SETTINGS = ("TENUTO_URL", "TENUTO_KEY", "TENUTO_TEST_")
"""Variables that other commands and the tests use; they are none of the server's business."""

GROUPS = {
    "limits": LimitSettings,
    "tools": ToolLimits,
    "search": SearchSettings,
    "embedded": EmbeddedSettings,
    "log": LogSettings,
}


class Given(Value):
    """A value that someone gave, and where."""

    raw: object
    source: str
    folder: Path
    """What a relative path is relative to."""


def load(flags: Mapping[str, object], environ: Mapping[str, str], cwd: Path) -> Settings:
    """Flags win over the environment, the environment over the file, the file over defaults.

    `flags` go by key (`port`, `limits.steps`, and `config` for the file's path); None means not
    given. Raises ConfigError.
    """
    mistakes = Mistakes()
    table = {row.key: row for row in settings_table()}
    nearby = _given_flags(flags, table, cwd) | {
        key: given
        for key, given in _given_environment(environ, table, cwd, mistakes).items()
        if flags.get(key) is None
    }
    path = _file_path(flags, environ, nearby, cwd)
    content = _read_file(path)
    entries, rules = content.pop("providers", []), content.pop("rules", [])
    servers = content.pop("mcp", [])
    given = _given_file(content, table, path, mistakes) | nearby
    values = {
        key: value
        for key, one in given.items()
        if (value := _read(table[key], one, environ, mistakes)) is not None
    }
    values.setdefault("data", _default_data(environ))
    _check_shared(values, given, mistakes)
    check_search(values, mistakes)
    providers = file_providers(entries, path.name, environ, mistakes)
    environment = environment_providers(environ, mistakes)
    said = tuple(rule.meant() for rule in read_list(rules, RuleEntry, "rules", path.name, mistakes))
    mcp = file_servers(servers, path.name, mistakes)
    mistakes.raise_if_any()
    fixed = {key: one.source for key, one in nearby.items()}
    settings = _settings(values, with_environment(providers, environment), fixed)
    return replace(settings, rules=said, mcp=mcp, config=path if path.is_file() else None)


def _check_shared(
    values: Mapping[str, object], given: Mapping[str, Given], mistakes: Mistakes
) -> None:
    """What only several nodes need is a mistake where there can be one only."""
    if str(values.get("database", "")).startswith(POSTGRES_URL):
        folder = values.get("workspaces")
        if isinstance(folder, Path) and not folder.is_dir():
            mistakes.say(f"workspaces ({given['workspaces'].source}): there is no folder {folder}")
        return
    for key in ("database_direct", "workspaces", "workers"):
        if key in values and values[key] != 1:
            mistakes.say(
                f"{key} ({given[key].source}): only with PostgreSQL, which several nodes can share:"
                " --database postgresql://…"
            )


def _given_flags(
    flags: Mapping[str, object], table: Mapping[str, Setting], cwd: Path
) -> dict[str, Given]:
    return {
        key: Given(raw=raw, source=table[key].flag, folder=cwd)
        for key, raw in flags.items()
        if raw is not None and key != "config"
    }


def _given_environment(
    environ: Mapping[str, str], table: Mapping[str, Setting], cwd: Path, mistakes: Mistakes
) -> dict[str, Given]:
    by_name = {row.env: row for row in table.values()}
    given = {}
    for name, text in sorted(environ.items()):
        if not name.startswith(ENV_PREFIX) or name == CONFIG_ENV or name.startswith(NOT_SETTINGS):
            continue
        if name not in by_name:
            mistakes.unknown(name, "environment", (*by_name, CONFIG_ENV))
        elif text:
            given[by_name[name].key] = Given(raw=text, source=name, folder=cwd)
    return given


def _file_path(
    flags: Mapping[str, object], environ: Mapping[str, str], nearby: Mapping[str, Given], cwd: Path
) -> Path:
    asked = flags.get("config") or environ.get(CONFIG_ENV)
    if asked:
        path = cwd / _expand(str(asked), environ)
        if not path.is_file():
            source = CONFIG_FLAG if flags.get("config") else CONFIG_ENV
            raise ConfigError([f"{source}: there is no file {path}"])
        return path
    data = nearby.get("data")
    folder = cwd / _expand(str(data.raw), environ) if data else _default_data(environ)
    kept = folder / FILE_NAME
    return kept if kept.is_file() else cwd / FILE_NAME


def _read_file(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise ConfigError([f"{path}: cannot be read: {error}"]) from error


def _given_file(
    content: Mapping[str, Any], table: Mapping[str, Setting], path: Path, mistakes: Mistakes
) -> dict[str, Given]:
    flat: dict[str, object] = {}
    for key, raw in content.items():
        if key in GROUPS and isinstance(raw, dict):
            flat |= {f"{key}.{inner}": value for inner, value in raw.items()}
        elif key in GROUPS:
            mistakes.wrong(key, raw, path.name, f"a table: [{key}]")
        else:
            flat[key] = raw
    given = {}
    for key, raw in flat.items():
        if key in table:
            given[key] = Given(raw=raw, source=path.name, folder=path.parent)
        else:
            mistakes.unknown(key, path.name, (*table, *GROUPS, "providers", "rules", "mcp"))
    return given


def _read(
    row: Setting, given: Given, environ: Mapping[str, str], mistakes: Mistakes
) -> object | None:
    try:
        value = row.kind.read(given.raw)
    except ValueError:
        # An address may have a password in it.
        hidden = row.kind.secret or (row.key.startswith("database") and "@" in str(given.raw))
        shown = "(hidden)" if hidden else given.raw
        mistakes.wrong(row.key, shown, given.source, row.kind.allowed)
        return None
    if isinstance(value, tuple):
        return tuple(
            given.folder / _expand(str(one), environ) if isinstance(one, Path) else one
            for one in value
        )
    if isinstance(value, Path):
        path = given.folder / _expand(str(value), environ)
        if row.key == "embedded.file" and not path.is_file():
            mistakes.say(f"{row.key} ({given.source}): there is no file {path}")
        return path
    if row.key == "database":
        return _database(str(value), given, environ)
    return value


def _database(url: str, given: Given, environ: Mapping[str, str]) -> str:
    if url.startswith(SQLITE_URL):
        return SQLITE_URL + str(given.folder / _expand(url.removeprefix(SQLITE_URL), environ))
    return url


def _settings(
    values: Mapping[str, object], providers: tuple[ProviderSettings, ...], fixed: dict[str, str]
) -> Settings:
    groups: dict[str, Any] = {
        name: group(
            **{
                key.removeprefix(f"{name}."): value
                for key, value in values.items()
                if key.startswith(f"{name}.")
            }
        )
        for name, group in GROUPS.items()
    }
    plain: dict[str, Any] = {key: value for key, value in values.items() if "." not in key}
    return Settings(**plain, **groups, providers=providers, fixed=fixed)


def _default_data(environ: Mapping[str, str]) -> Path:
    base = environ.get("XDG_DATA_HOME", "")
    # A relative XDG_DATA_HOME is invalid by its own rules and to be ignored.
    if Path(base).is_absolute():
        return Path(base) / "tenuto"
    return _home(environ) / ".local" / "share" / "tenuto"


def _expand(text: str, environ: Mapping[str, str]) -> str:
    if text == "~" or text.startswith("~/"):
        return str(_home(environ)) + text[1:]
    return text


def _home(environ: Mapping[str, str]) -> Path:
    home = environ.get("HOME")
    return Path(home) if home else Path.home()
