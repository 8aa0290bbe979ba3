"""The name of a node, made once and kept."""

import re
import secrets
import socket

from tenuto.config.kept_file import kept_once
from tenuto.config.settings import Settings

NODE_FILE = "node"
ALONE = "local"
"""Where there can be only one, nobody needs to tell it from others."""


def node_name(settings: Settings) -> str:
    """The name of the settings, else the one kept in the data folder, else a new one, kept.

    Raises ConfigError.
    """
    if settings.node or not settings.is_shared:
        return settings.node or ALONE
    return kept_once(settings.data / NODE_FILE, _new_name, what="name of this node")


def _new_name() -> str:
    machine = re.sub(r"[^A-Za-z0-9-]+", "-", socket.gethostname().partition(".")[0]).strip("-")
    return f"{machine[:50] or 'node'}-{secrets.token_hex(2)}"
