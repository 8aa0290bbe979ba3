"""How a server is told what to do: `load` makes frozen `Settings`, or says all that is wrong."""

from tenuto.config.cipher_key import cipher_key
from tenuto.config.limits import LimitSettings
from tenuto.config.load import load
from tenuto.config.mistake import ConfigError
from tenuto.config.node import NODE_FILE, node_name
from tenuto.config.provider import ModelSettings, ProviderSettings
from tenuto.config.running import RunningServer, announce, running_server, withdraw
from tenuto.config.secret import Secret
from tenuto.config.settings import (
    EmbeddedSettings,
    LogFormat,
    LogLevel,
    LogSettings,
    Permissions,
    Settings,
    ToolLimits,
)
from tenuto.config.table import Setting, settings_table
from tenuto.config.token import TOKEN_FILE, ensure_token, new_token
from tenuto.core.provider import ProviderKind

__all__ = [
    "NODE_FILE",
    "TOKEN_FILE",
    "ConfigError",
    "EmbeddedSettings",
    "LimitSettings",
    "LogFormat",
    "LogLevel",
    "LogSettings",
    "ModelSettings",
    "Permissions",
    "ProviderKind",
    "ProviderSettings",
    "RunningServer",
    "Secret",
    "Setting",
    "Settings",
    "ToolLimits",
    "announce",
    "cipher_key",
    "ensure_token",
    "load",
    "new_token",
    "node_name",
    "running_server",
    "settings_table",
    "withdraw",
]
