"""Where a setting comes from, and what is said when it is wrong."""

import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from tenuto.config import (
    ConfigError,
    LogFormat,
    Permissions,
    ProviderKind,
    Secret,
    Settings,
    load,
    node_name,
)
from tenuto.config.settings import NODE


def settings(
    folder: Path,
    *,
    flags: dict[str, object] | None = None,
    environ: dict[str, str] | None = None,
    file: str | None = None,
) -> Settings:
    if file is not None:
        (folder / "tenuto.toml").write_text(file)
    return load(flags or {}, {"HOME": str(folder / "home")} | (environ or {}), folder)


def complaints(
    folder: Path,
    *,
    flags: dict[str, object] | None = None,
    environ: dict[str, str] | None = None,
    file: str | None = None,
) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        settings(folder, flags=flags, environ=environ, file=file)
    return list(caught.value.lines)


def test_without_a_word_everything_has_its_default(tmp_path: Path) -> None:
    plain = settings(tmp_path)
    assert (plain.host, plain.port, plain.drain) == ("127.0.0.1", 8383, 20)
    assert plain.data == tmp_path / "home/.local/share/tenuto"
    assert plain.sqlite_path == plain.data / "tenuto.sqlite3"
    assert plain.token is None
    assert plain.titles
    assert plain.permissions is Permissions.ASK
    assert plain.limits.max_body_bytes == 10_485_760
    assert plain.limits.steps == 50
    assert plain.log.format is LogFormat.AUTO
    assert plain.providers == ()


def test_a_flag_wins_over_the_environment_and_that_over_the_file(tmp_path: Path) -> None:
    file = 'host = "file"\nport = 1\ndrain = 1\n[limits]\nsteps = 1\n'
    environ = {"TENUTO_HOST": "environment", "TENUTO_PORT": "2", "TENUTO_LIMITS_STEPS": "2"}
    mixed = settings(tmp_path, file=file, environ=environ, flags={"host": "flag", "port": None})
    assert (mixed.host, mixed.port, mixed.drain, mixed.limits.steps) == ("flag", 2, 1, 2)


def test_what_a_flag_or_a_variable_gave_is_fixed(tmp_path: Path) -> None:
    file = 'model = "a/b"\ntitles = true\npermissions = "deny"\n'
    environ = {"TENUTO_TITLES": "off", "TENUTO_PERMISSIONS": ""}
    mixed = settings(tmp_path, file=file, environ=environ, flags={"model": "c/d", "port": None})
    assert mixed.fixed == {"model": "--model", "titles": "TENUTO_TITLES"}


def test_a_provider_knows_where_it_comes_from(tmp_path: Path) -> None:
    file = '[[providers]]\nname = "lab"\nkind = "openai"\n'
    both = settings(tmp_path, file=file, environ={"ANTHROPIC_API_KEY": "k"})
    assert [(p.name, p.source) for p in both.providers] == [
        ("lab", "file"),
        ("anthropic", "environment"),
    ]


def test_an_empty_variable_is_not_set(tmp_path: Path) -> None:
    assert settings(tmp_path, environ={"TENUTO_PORT": "", "TENUTO_TOKEN": ""}).port == 8383


@pytest.mark.parametrize(
    ("text", "value"), [("on", True), ("off", False), ("TRUE", True), ("0", False), ("no", False)]
)
def test_a_switch_understands_the_usual_words(tmp_path: Path, text: str, value: bool) -> None:
    assert settings(tmp_path, environ={"TENUTO_TITLES": text}).titles is value


def test_a_list_comes_with_commas_or_as_an_array(tmp_path: Path) -> None:
    environ = {"TENUTO_ALLOWED_HOSTS": "a.example, b.example"}
    file = 'allowed_origins = ["https://c.example"]'
    both = settings(tmp_path, environ=environ, file=file)
    assert both.allowed_hosts == ("a.example", "b.example")
    assert both.allowed_origins == ("https://c.example",)


def test_the_data_folder_follows_the_usual_variable(tmp_path: Path) -> None:
    environ = {"XDG_DATA_HOME": str(tmp_path / "share")}
    assert settings(tmp_path, environ=environ).data == tmp_path / "share/tenuto"


def test_a_tilde_is_the_home_folder(tmp_path: Path) -> None:
    assert settings(tmp_path, flags={"data": "~/t"}).data == tmp_path / "home/t"


def test_the_data_folders_file_comes_before_the_one_here(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "tenuto.toml").write_text("port = 1")
    assert settings(tmp_path, flags={"data": "data"}, file="port = 2").port == 1
    assert settings(tmp_path, flags={"data": "other"}).port == 2


def test_a_named_file_is_the_only_one_read(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text("port = 3")
    assert settings(tmp_path, flags={"config": "mine.toml"}, file="drain = 1").port == 3
    assert settings(tmp_path, environ={"TENUTO_CONFIG": "mine.toml"}).drain == 20


def test_a_named_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    (line,) = complaints(tmp_path, flags={"config": "mine.toml"})
    assert line == f"--config: there is no file {tmp_path / 'mine.toml'}"


def test_a_relative_path_in_a_file_starts_at_the_file(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "mine.toml").write_text('data = "d"\ndatabase = "sqlite:///x.db"')
    made = settings(tmp_path, flags={"config": "inner/mine.toml"})
    assert made.data == inner / "d"
    assert made.sqlite_path == inner / "x.db"


@pytest.mark.parametrize(
    ("url", "path"),
    [("sqlite:////abs/x.db", Path("/abs/x.db")), ("memory:", None)],
)
def test_a_database_is_a_file_or_memory(tmp_path: Path, url: str, path: Path | None) -> None:
    assert settings(tmp_path, flags={"database": url}).sqlite_path == path


POSTGRES = "postgresql://tenuto:p%40ss-word@db.example/tenuto"


def test_postgresql_is_shared_and_its_password_is_a_secret(tmp_path: Path) -> None:
    made = settings(tmp_path, environ={"TENUTO_DATABASE": POSTGRES})
    assert (made.database, made.is_shared, made.sqlite_path) == (POSTGRES, True, None)
    assert {"p%40ss-word", "p@ss-word"} <= {key.reveal() for key in made.keys}
    assert not settings(tmp_path).is_shared


def test_a_wrong_address_of_a_database_does_not_show_its_password(tmp_path: Path) -> None:
    (line,) = complaints(tmp_path, environ={"TENUTO_DATABASE": "postgres//u:pass@h/db"})
    assert line.startswith("database = '(hidden)' (TENUTO_DATABASE): must be")
    assert "pass" not in line


@pytest.mark.parametrize(
    ("key", "value"),
    [("database_direct", POSTGRES), ("workspaces", "."), ("workers", "2")],
)
def test_what_several_nodes_need_is_a_mistake_without_postgresql(
    tmp_path: Path, key: str, value: str
) -> None:
    (line,) = complaints(tmp_path, flags={key: value})
    assert line.startswith(f"{key} (--{key.replace('_', '-')}): only with PostgreSQL")
    shared = settings(tmp_path, flags={key: value, "database": POSTGRES})
    assert str(getattr(shared, key)).endswith(value.strip("."))


def test_one_worker_is_no_mistake_and_the_folder_of_workspaces_must_be_there(
    tmp_path: Path,
) -> None:
    assert settings(tmp_path, flags={"workers": "1"}).workers == 1
    (line,) = complaints(tmp_path, flags={"workspaces": "none", "database": POSTGRES})
    assert line == f"workspaces (--workspaces): there is no folder {tmp_path / 'none'}"


@pytest.mark.parametrize("name", ["shared", "-a", "a b", "a" * 64, "a/b"])
def test_a_node_cannot_be_called_anything(tmp_path: Path, name: str) -> None:
    (line,) = complaints(tmp_path, flags={"node": name})
    assert "node = " in line


def test_a_nodes_name_is_made_once_where_there_can_be_several(tmp_path: Path) -> None:
    shared = Settings(data=tmp_path / "data", database=POSTGRES)
    made = node_name(shared)
    assert node_name(shared) == made
    assert re.fullmatch(NODE, made)
    assert (tmp_path / "data/node").read_text().strip() == made
    assert node_name(replace(shared, node="left")) == "left"
    assert node_name(Settings(data=tmp_path / "other")) == "local"
    assert not (tmp_path / "other").exists()


def test_a_short_secret_is_refused_and_not_shown(tmp_path: Path) -> None:
    (line,) = complaints(tmp_path, environ={"TENUTO_SECRET": "hush-hush"})
    assert "16 characters or more" in line
    assert "hush-hush" not in line


def test_a_misspelt_key_is_named_with_the_nearest_right_one(tmp_path: Path) -> None:
    file = "prot = 1\n[limits]\nstep = 3\n[tolls]\nshell_seconds = 3\n"
    assert complaints(tmp_path, file=file, environ={"TENUTO_DRIAN": "5"}) == [
        "TENUTO_DRIAN (environment): no such setting; did you mean TENUTO_DRAIN?",
        "prot (tenuto.toml): no such setting; did you mean port?",
        "limits.step (tenuto.toml): no such setting; did you mean limits.steps?",
        "tolls (tenuto.toml): no such setting; did you mean tools?",
    ]


def test_a_key_in_the_wrong_place_is_told_where_it_belongs(tmp_path: Path) -> None:
    (line,) = complaints(tmp_path, file="run_seconds = 5")
    assert line.endswith("did you mean limits.run_seconds?")


def test_variables_of_other_commands_are_none_of_our_business(tmp_path: Path) -> None:
    settings(tmp_path, environ={"TENUTO_URL": "http://x", "TENUTO_TEST_POINT": "3"})


def test_a_wrong_value_is_named_with_its_source_and_what_is_allowed(tmp_path: Path) -> None:
    assert complaints(
        tmp_path,
        flags={"permissions": "maybe"},
        environ={"TENUTO_PORT": "65536", "TENUTO_DRAIN": "nan"},
        file='titles = 3\n[limits]\nsteps = "many"\nrun_seconds = 0\n',
    ) == [
        "titles = 3 (tenuto.toml): must be on or off",
        "limits.steps = 'many' (tenuto.toml): must be a whole number, 1 or more",
        "limits.run_seconds = 0 (tenuto.toml): must be a number above 0",
        "permissions = 'maybe' (--permissions): must be one of ask, allow, deny",
        "drain = 'nan' (TENUTO_DRAIN): must be a number, 0 or more",
        "port = '65536' (TENUTO_PORT): must be a whole number from 0 to 65535",
    ]


def test_a_broken_file_is_an_error_that_says_where(tmp_path: Path) -> None:
    (line,) = complaints(tmp_path, file="drain = 1\nport = \n")
    assert str(tmp_path / "tenuto.toml") in line
    assert "line 2" in line


def test_a_secret_never_shows_itself(tmp_path: Path) -> None:
    made = settings(
        tmp_path, flags={"token": "open-sesame"}, environ={"OPENAI_API_KEY": "sk-12345678"}
    )
    assert "sesame" not in f"{made} {made!r} {made.token}"
    assert "12345678" not in f"{made} {made!r}"
    assert made.token == Secret("open-sesame")
    assert made.token.reveal() == "open-sesame"


def test_a_wrong_secret_is_refused_without_showing_it(tmp_path: Path) -> None:
    (line,) = complaints(tmp_path, flags={"token": "open sesame"})
    assert "sesame" not in line
    assert line.startswith("token = ")


def test_keys_in_the_environment_make_providers(tmp_path: Path) -> None:
    environ = {
        "OPENAI_API_KEY": "sk-1",
        "ANTHROPIC_API_KEY": "sk-2",
        "ANTHROPIC_BASE_URL": "http://127.0.0.1:9/",
    }
    first, second = settings(tmp_path, environ=environ).providers
    assert (first.name, first.kind, first.base_url) == (
        "openai",
        ProviderKind.OPENAI_RESPONSES,
        "https://api.openai.com/v1",
    )
    assert first.api_key == Secret("sk-1")
    assert (second.name, second.base_url) == ("anthropic", "http://127.0.0.1:9")


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("https://eu.api.openai.com/v1", ProviderKind.OPENAI_RESPONSES),
        ("https://openrouter.ai/api/v1", ProviderKind.OPENAI),
        ("http://127.0.0.1:1234/v1", ProviderKind.OPENAI),
        ("https://notopenai.com/v1", ProviderKind.OPENAI),
    ],
)
def test_only_openai_itself_is_asked_on_its_newer_wire(
    tmp_path: Path, url: str, kind: ProviderKind
) -> None:
    environ = {"OPENAI_API_KEY": "sk-1", "OPENAI_BASE_URL": url}
    (provider,) = settings(tmp_path, environ=environ).providers
    assert (provider.name, provider.kind) == ("openai", kind)


PROVIDER = """
[[providers]]
name = "lab"
kind = "openai"
base_url = "http://127.0.0.1:8000/v1"
api_key_env = "LAB_KEY"

[[providers.models]]
id = "big"
context_window = 32768
capabilities = ["tools", "vision"]
price = { input = 0.5, output = 1.5 }
"""


def test_a_provider_can_be_written_in_the_file(tmp_path: Path) -> None:
    (lab,) = settings(tmp_path, file=PROVIDER, environ={"LAB_KEY": "k"}).providers
    assert (lab.name, lab.base_url) == ("lab", "http://127.0.0.1:8000/v1")
    assert lab.api_key == Secret("k")
    (model,) = lab.models
    assert (model.id, model.context_window, model.capabilities) == (
        "big",
        32768,
        ("tools", "vision"),
    )
    assert model.price is not None
    assert (model.price.input, model.price.output) == (0.5, 1.5)


def test_a_key_is_never_sent_to_an_address_that_was_given_without_it(tmp_path: Path) -> None:
    file = '[[providers]]\nname = "openai"\nkind = "openai"\nbase_url = "http://10.0.0.1/v1"\n'
    (provider,) = settings(tmp_path, file=file, environ={"OPENAI_API_KEY": "sk-1"}).providers
    assert provider.base_url == "http://10.0.0.1/v1"
    assert provider.api_key is None


def test_an_entry_of_only_models_takes_key_and_address_from_the_environment(
    tmp_path: Path,
) -> None:
    file = '[[providers]]\nname = "openai"\nkind = "openai"\n[[providers.models]]\nid = "m"\n'
    environ = {"OPENAI_API_KEY": "sk-1", "OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}
    (provider,) = settings(tmp_path, file=file, environ=environ).providers
    assert provider.api_key == Secret("sk-1")
    assert provider.base_url == "http://127.0.0.1:9/v1"
    assert [model.id for model in provider.models] == ["m"]


def test_every_mistake_in_a_provider_is_said(tmp_path: Path) -> None:
    file = """
[[providers]]
kind = "openai"
base_ulr = "http://x"
api_key = 7

[[providers]]
name = "lab"
kind = "open"
[[providers.models]]
id = "m"
context_window = -1
capabilities = ["fly"]
price = { input = 1 }
"""
    model = "providers[2].models[1]"
    capabilities = "a list, each one of tools, vision, documents, reasoning"
    assert complaints(tmp_path, file=file) == [
        "providers[1].base_ulr (tenuto.toml): no such setting; did you mean providers[1].base_url?",
        "providers[1].name (tenuto.toml): is missing",
        "providers[1].api_key = '(hidden)' (tenuto.toml): must be a text without spaces",
        "providers[2].kind = 'open' (tenuto.toml): must be one of openai-responses, openai, anthropic, ollama",
        f"{model}.context_window = -1 (tenuto.toml): must be a whole number, 1 or more",
        f"{model}.capabilities = ['fly'] (tenuto.toml): must be {capabilities}",
        f"{model}.price.output (tenuto.toml): is missing",
    ]


def test_a_key_variable_that_is_not_set_is_said(tmp_path: Path) -> None:
    (line,) = complaints(tmp_path, file=PROVIDER)
    assert line == "providers.lab.api_key_env (tenuto.toml): the environment has no LAB_KEY"


def test_two_providers_of_one_name_are_refused(tmp_path: Path) -> None:
    entry = '[[providers]]\nname = "lab"\nkind = "openai"\n'
    assert complaints(tmp_path, file=entry * 2) == ["providers (tenuto.toml): two are named lab"]


def test_a_model_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    (line,) = complaints(tmp_path, file='[embedded]\nfile = "mine.gguf"\n')
    assert line == f"embedded.file (tenuto.toml): there is no file {tmp_path / 'mine.gguf'}"
    (tmp_path / "mine.gguf").touch()
    assert settings(tmp_path).embedded.file == tmp_path / "mine.gguf"


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("searxng", "search.url: say where SearXNG is, as https://name"),
        ("brave", "search.api_key: brave needs a key"),
        ("tavily", "search.api_key: tavily needs a key"),
    ],
)
def test_a_search_says_what_it_cannot_do_without(tmp_path: Path, kind: str, said: str) -> None:
    assert complaints(tmp_path, flags={"search.kind": kind}) == [said]
