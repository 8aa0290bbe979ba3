"""How a server is told what to do: `load` makes frozen `Settings`, or says all that is wrong."""

from tenuto.config.load import load
from tenuto.config.mistake import ConfigError
from tenuto.config.provider import ModelSettings, ProviderSettings
from tenuto.config.secret import Secret
from tenuto.config.settings import (
    EmbeddedSettings,
    LimitSettings,
    LogFormat,
    LogLevel,
    LogSettings,
    Permissions,
    Settings,
    Tools,
)
from tenuto.config.table import Setting, settings_table
from tenuto.config.token import TOKEN_FILE, ensure_token
from tenuto.core.provider import ProviderKind

__all__ = [
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
    "Secret",
    "Setting",
    "Settings",
    "Tools",
    "ensure_token",
    "load",
    "settings_table",
]
