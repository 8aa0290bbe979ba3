"""Providers by name, and the ways to their keys."""

from pathlib import Path

import pytest

from tenuto.config import ProviderKind, Secret
from tenuto.config.command import CommandFailed, printed
from tenuto.core.preset import PRESETS
from tests.settings.test_config import complaints, settings

PATH = {"PATH": "/usr/bin:/bin"}


def entry(*lines: str) -> str:
    return "\n".join(("[[providers]]", *lines)) + "\n"


def test_these_are_known_by_name() -> None:
    names = "openai anthropic gemini openrouter mistral groq deepseek xai together"
    local = "ollama lmstudio vllm llamacpp custom"
    assert [preset.name for preset in PRESETS] == [*names.split(), *local.split()]


@pytest.mark.parametrize(
    ("name", "kind", "base_url"),
    [
        ("openai", ProviderKind.OPENAI_RESPONSES, "https://api.openai.com/v1"),
        ("anthropic", ProviderKind.ANTHROPIC, "https://api.anthropic.com"),
        (
            "gemini",
            ProviderKind.OPENAI,
            "https://generativelanguage.googleapis.com/v1beta/openai",
        ),
        ("groq", ProviderKind.OPENAI, "https://api.groq.com/openai/v1"),
        ("vllm", ProviderKind.OPENAI, "http://127.0.0.1:8000/v1"),
    ],
)
def test_a_name_fills_in_kind_and_address(
    tmp_path: Path, name: str, kind: ProviderKind, base_url: str
) -> None:
    (provider,) = settings(tmp_path, file=entry(f'name = "{name}"', 'api_key = "k"')).providers
    assert (provider.kind, provider.base_url) == (kind, base_url)
    assert provider.api_key == Secret("k")


def test_what_is_said_counts_before_the_preset(tmp_path: Path) -> None:
    file = entry('name = "ollama"', 'base_url = "http://10.0.0.5:11434/v1"')
    file += entry('name = "openai"', 'base_url = "https://proxy.example/v1"')
    file += entry('name = "anthropic"', 'kind = "openai"', 'base_url = "https://a.example/v1"')
    assert [(p.kind, p.base_url) for p in settings(tmp_path, file=file).providers] == [
        (ProviderKind.OLLAMA, "http://10.0.0.5:11434/v1"),
        (ProviderKind.OPENAI, "https://proxy.example/v1"),
        (ProviderKind.OPENAI, "https://a.example/v1"),
    ]


def test_an_address_alone_is_a_server_of_chat_completions(tmp_path: Path) -> None:
    file = entry('name = "lab"', 'base_url = "http://lab.example/v1"')
    (lab,) = settings(tmp_path, file=file).providers
    assert lab.kind is ProviderKind.OPENAI


@pytest.mark.parametrize("name", ["lab", "custom"])
def test_a_name_that_says_nothing_needs_an_address(tmp_path: Path, name: str) -> None:
    (line,) = complaints(tmp_path, file=entry(f'name = "{name}"'))
    assert line.startswith(f"providers.{name} (tenuto.toml): give a base_url, or a name")
    assert "openrouter" in line


def test_the_usual_variables_make_providers(tmp_path: Path) -> None:
    environ = {"GROQ_API_KEY": "g", "GEMINI_API_KEY": "m", "OPENAI_API_KEY": "o"}
    found = settings(tmp_path, environ=environ).providers
    assert [(p.name, p.api_key) for p in found] == [
        ("openai", Secret("o")),
        ("gemini", Secret("m")),
        ("groq", Secret("g")),
    ]


def test_a_preset_of_the_file_takes_its_key_from_the_usual_variable(tmp_path: Path) -> None:
    file = entry('name = "groq"', 'headers = { X-Team = "red" }')
    (groq,) = settings(tmp_path, file=file, environ={"GROQ_API_KEY": "g"}).providers
    assert groq.api_key == Secret("g")
    assert groq.headers == {"X-Team": Secret("red")}


def test_a_command_prints_the_key(tmp_path: Path) -> None:
    file = entry('name = "groq"', 'api_key_command = "echo $HELD"')
    (groq,) = settings(tmp_path, file=file, environ={**PATH, "HELD": "from-a-safe"}).providers
    assert groq.api_key == Secret("from-a-safe")


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("echo s3cret; exit 3", "the command failed (exit code 3)"),
        ("true", "the command must print one line, the key, without spaces"),
        ("echo s3cret one; echo s3cret two", "the command must print one line, the key"),
    ],
)
def test_a_command_that_fails_is_said_without_what_it_printed(
    tmp_path: Path, command: str, why: str
) -> None:
    file = entry('name = "groq"', f'api_key_command = "{command}"')
    (line,) = complaints(tmp_path, file=file, environ=PATH)
    assert line.startswith(f"providers.groq.api_key_command (tenuto.toml): {why}")
    assert "s3cret" not in line


def test_a_command_that_hangs_is_ended_with_all_that_it_started() -> None:
    # The grandchild holds the line: whoever waited for its end would wait for this test's limit.
    with pytest.raises(CommandFailed, match="took more than"):
        printed("sleep 300 & sleep 300", PATH, seconds=0.2)


def test_two_ways_to_a_key_are_one_too_many(tmp_path: Path) -> None:
    file = entry('name = "groq"', 'api_key = "a"', 'api_key_command = "echo b"')
    (line,) = complaints(tmp_path, file=file, environ=PATH)
    assert line == "providers.groq (tenuto.toml): give api_key or api_key_command, not both"


@pytest.mark.parametrize(
    "headers",
    ['{ Host = "h" }', '{ "a b" = "c" }', "{ A = 5 }", '{ A = "s3cret\\nB: c" }', '"s3cret"'],
)
def test_headers_that_cannot_be_sent_are_said_without_their_text(
    tmp_path: Path, headers: str
) -> None:
    (line,) = complaints(tmp_path, file=entry('name = "groq"', f"headers = {headers}"))
    assert line.startswith("providers[1].headers") and "s3cret" not in line


def test_a_long_header_is_hidden_in_logs_as_a_key_is(tmp_path: Path) -> None:
    file = entry('name = "groq"', 'headers = { X-Key = "0123456789abcdef", X-Team = "red" }')
    held = settings(tmp_path, file=file).keys
    assert held == (Secret("0123456789abcdef"),)
