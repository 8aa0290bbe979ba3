"""The environment that commands get: the server's, without what is secret."""

import re
from collections.abc import Mapping

SECRET_NAME = re.compile(
    r"^TENUTO_"
    r"|(KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|PASSCODE|CREDENTIAL|CRED)S?(_|FILE|$)"
    r"|(^|_)(PAT|PASS|AUTH|DSN|COOKIE|JWT|BEARER|NETRC|PGPASSFILE|ASKPASS)(_|FILE|$)"
    r"|._PWD$"
    # Not secrets, but doors to those who keep some: agents, keyrings, tickets.
    r"|^(SSH_AGENT_PID|GPG_AGENT_INFO|GNOME_KEYRING_\w+|KRB5CCNAME|DBUS_SESSION_BUS_ADDRESS)$",
    re.IGNORECASE,
)
SECRET_VALUE = re.compile(r"://[^/\s@]*:[^/\s@]+@")
"""An address with a password in it."""
QUIET = {
    "TERM": "dumb",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "EDITOR": "false",
    "VISUAL": "false",
    "GIT_EDITOR": "false",
    "GIT_SEQUENCE_EDITOR": "false",
    "CI": "1",
    "NO_COLOR": "1",
    "PYTHONUNBUFFERED": "1",
    "DEBIAN_FRONTEND": "noninteractive",
}
"""Nobody sits at a terminal: nothing may page, ask, paint, open an editor, or keep to itself what
it prints."""


def without_secrets(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment for a command of the model's."""
    kept = {
        name: value
        for name, value in environment.items()
        if not SECRET_NAME.search(name) and not SECRET_VALUE.search(value)
    }
    return {**kept, **QUIET}
