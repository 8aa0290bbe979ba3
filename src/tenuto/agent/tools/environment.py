"""The environment that commands get: the server's, without what is secret."""

import re
from collections.abc import Mapping

SECRET_NAME = re.compile(
    r"^TENUTO_|(KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL)S?(_|$)", re.IGNORECASE
)
SECRET_VALUE = re.compile(r"://[^/\s@]*:[^/\s@]+@")
"""An address with a password in it."""
QUIET = {"TERM": "dumb", "PAGER": "cat", "GIT_PAGER": "cat", "GIT_TERMINAL_PROMPT": "0"}
"""Nobody sits at a terminal: nothing may page, ask, or paint."""


def without_secrets(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment for a command of the model's."""
    kept = {
        name: value
        for name, value in environment.items()
        if not SECRET_NAME.search(name) and not SECRET_VALUE.search(value)
    }
    return {**kept, **QUIET}
