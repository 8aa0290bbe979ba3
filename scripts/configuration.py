"""Writes docs/configuration.md from the settings themselves: `make docs`."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from tenuto.config.kind import Field, fields_of, kind_of
from tenuto.config.mcp_entry import McpEntry
from tenuto.config.provider import ModelSettings
from tenuto.config.provider_entry import ProviderEntry
from tenuto.config.rule_entry import RuleEntry
from tenuto.config.table import Setting, default_text, settings_table
from tenuto.core.preset import PRESETS

PAGE = Path(__file__).parents[1] / "docs" / "configuration.md"

INTRODUCTION = """\
# Configuration

Nothing has to be set. Whatever is set comes from, in this order:

1. a flag of `tenuto serve`,
2. an environment variable (an empty one is not set),
3. the file `tenuto.toml`,
4. the default.

One rule gives all three spellings: the key `limits.steps` is the flag `--limits-steps`, the
variable `TENUTO_LIMITS_STEPS`, and `steps` in the table `[limits]` of the file. A list takes
commas in a variable, and its flag may be given several times. A switch is `on` or `off`.

The file is the one that `--config` or `TENUTO_CONFIG` names, else `tenuto.toml` in the data
folder, else `tenuto.toml` in the folder that the server is started in. Relative paths in it start
at its own folder.

A few settings, and model providers, can also be changed while the server runs, by `/api/settings`
and `/api/providers` or on the page. They are kept in the database, and come before `tenuto.toml`. A flag or a variable comes before them and makes
the setting unchangeable: `model`, `titles`, `permissions`.

Whatever is misspelt or out of range is an error: the server says each mistake, where it came
from, what is allowed or which name you may have meant, and does not start (exit code 2).

## Settings

"""

PROVIDERS = """
## Model providers

The quickest way is the environment:

| variable | gives |
|---|---|
| `OPENAI_API_KEY`, optionally `OPENAI_BASE_URL` | models `openai/…`, as the provider lists them |
| `ANTHROPIC_API_KEY`, optionally `ANTHROPIC_BASE_URL` | models `anthropic/…` |
| {variables} | models `{{name}}/…`, each of its preset |

Of several, the first in this order gives the default model.

A server on the usual local ports (Ollama, LM Studio, llama.cpp) is found by itself unless
`discover` is off. With none of these the embedded model answers.

Providers elsewhere are asked through the proxy that `HTTPS_PROXY` or `HTTP_PROXY` names (one that is
itself reached by plain `http://`), except those in `NO_PROXY`. `SSL_CERT_FILE` names certificates to
trust.

Providers can also be added while the server runs, with a key that is kept encrypted and never
shown again. They take effect at once. One of the file or the environment cannot be changed
that way, and comes before one of the same name. Whoever holds the token can make the server ask any
address that it can reach, its own network included: the token is the administrator's. A command that
`shell` may run has these rights too: see [operations](operations.md#what-tools-can-do).

For more, write the file:

```toml
model = "lab/big"

[limits]
cost_usd = 2.5

[[providers]]
name = "groq"
api_key_command = "pass show groq"

[[providers]]
name = "lab"
base_url = "http://127.0.0.1:8000/v1"
api_key_env = "LAB_KEY"
headers = {{ X-Team = "red" }}

[[providers.models]]
id = "big"
context_window = 32768
capabilities = ["tools", "vision"]
price = {{ input = 0.5, output = 1.5, cache_read = 0.05 }}
```

What is known of a model comes from, in this order: this file; the provider's own list; a table that
comes with the server (windows, limits, prices and abilities, from LiteLLM, MIT licence; see
`agent/providers/catalogue/models.LICENSE`); the model's name; a default. A server calls nobody by
itself, so that table grows old with it; `refresh_models = true` lets it fetch a newer one once a day
into `models/` of the data folder, when models are asked for. If it cannot, the log says so. `source` of
`GET /api/models` says which. A provider whose address is not in the table gets no prices from it.

An entry whose name is that of a preset needs nothing but its key:

{presets}
Any other needs a `base_url`; its `kind` is then `openai`, chat completions, which nearly all speak.

A provider of the file comes before one of the same name in the environment. If it has neither a
key nor an address of its own, it takes both from there.

"""

RULES = """
## Rules

What tools may do without asking, when asked, or never. These are the server's; those of a workspace and
what was allowed for a session come before them, but a `deny` anywhere wins. Of several that match, the
last counts. What is set for a tool on the page or by `/api/settings` counts after them. How patterns are
read: [rules](api.md#rules).

```toml
[[rules]]
tool = "shell"
pattern = "git *"
decision = "allow"

[[rules]]
tool = "shell"
pattern = "git push *"
decision = "ask"
```

Each `[[rules]]`:

"""

MCP = """
## MCP servers

Programs and services of others that give tools to agents, as `name__tool`. Nothing is started before a run
needs it; a program runs in the workspace's folder and in the same sandbox as `shell`, gets a few usual
variables and its own `env`, and is ended after ten idle minutes, with all that it started.

```toml
[[mcp]]
name = "files"
command = "npx"
args = ["-y", "@modelcontextprotocol/server-filesystem", "."]

[[mcp]]
name = "tickets"
url = "https://tickets.example.com/mcp"
headers = { Authorization = "Bearer of-tickets" }
tools = ["search", "read"]
```

A server that wants somebody to sign in says so on the page, and in a question to the run that needs it.
They can also be added while the server runs, by `/api/mcp` or on the page, with keys that are kept
encrypted. A workspace's own `.mcp.json` counts once a person has allowed it as it is; `${NAME}` in it is a
variable of the server's environment, but none that looks like a secret.

Each `[[mcp]]`:

"""


def page() -> str:
    """The whole page, as it must be in docs/."""
    return (
        INTRODUCTION
        + _lines(_settings(settings_table()))
        + PROVIDERS.format(variables=_variables(), presets=_lines(_presets()))
        + "Each `[[providers]]`:\n\n"
        + _lines(_fields(fields_of(ProviderEntry)))
        + "\nEach `[[providers.models]]`:\n\n"
        + _lines(_fields(fields_of(ModelSettings)))
        + RULES
        + _lines(_fields(fields_of(RuleEntry)))
        + MCP
        + _lines(_fields(fields_of(McpEntry)))
    )


def _variables() -> str:
    return ", ".join(f"`{p.variable}`" for p in PRESETS[2:] if p.variable)


def _presets() -> Iterator[str]:
    yield "| name | kind | address | key |"
    yield "|---|---|---|---|"
    for preset in PRESETS:
        if preset.base_url:
            row = f"`{preset.name}` | `{preset.kind}` | `{preset.base_url}` | {preset.key}"
            yield f"| {row} |"


def _settings(rows: Iterable[Setting]) -> Iterator[str]:
    yield "| key | flag | variable | allowed | default | meaning |"
    yield "|---|---|---|---|---|---|"
    for row in rows:
        yield (
            f"| `{row.key}` | `{row.flag}` | `{row.env}` | {row.kind.allowed} "
            f"| {row.default} | {row.meaning} |"
        )


def _fields(fields: Iterable[Field]) -> Iterator[str]:
    yield "| key | allowed | default | meaning |"
    yield "|---|---|---|---|"
    for field in fields:
        default = "must be given" if field.required else default_text(field)
        yield f"| `{field.name}` | {_allowed(field)} | {default} | {field.meta.description} |"


def _allowed(field: Field) -> str:
    if field.name == "models":
        return "tables, see below"
    if field.name in ("price", "headers", "env"):
        return "a table"
    return kind_of(field.hint, field.meta).allowed


def _lines(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
