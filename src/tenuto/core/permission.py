"""What happens when a tool wants to do something."""

from enum import StrEnum


class Permission(StrEnum):
    ASK = "ask"
    ALLOW = "allow"
    DENY = "deny"
