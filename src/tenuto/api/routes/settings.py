"""What can be set while the server runs."""

from msgspec import UNSET, UnsetType
from starlette.types import ASGIApp

from tenuto.api.call import Call, answer
from tenuto.api.endpoint import Endpoint, ModelName
from tenuto.core.permission import Permission
from tenuto.core.sandbox import Sandboxing
from tenuto.core.value import Value
from tenuto.engine.settings import PreferenceChange


class SettingsChange(Value, forbid_unknown_fields=True):
    """Any of them; null gives one back to the configuration."""

    default_model: ModelName | UnsetType | None = UNSET
    titles: bool | UnsetType | None = UNSET
    permission_default: Permission | UnsetType | None = UNSET
    permissions: dict[str, Permission | None] | UnsetType = UNSET
    """Only the tools that are named change."""


class ToolRule(Value):
    name: str
    about: str
    changes: bool
    """Whether `permission_default` is for it: it changes something or reaches out."""
    permission: Permission
    """What counts now."""


class SettingsNow(Value):
    default_model: str | None
    """null: the best of what there is; `GET /api/models` says which."""
    titles: bool
    permission_default: Permission
    permissions: dict[str, Permission]
    """What was set for single tools."""
    tools: tuple[ToolRule, ...]
    sandbox: Sandboxing
    fixed: dict[str, str]
    """Those that cannot be changed here, and the flag or variable that sets each."""


async def read(call: Call) -> ASGIApp:
    return answer(_now(call))


async def change(call: Call) -> ASGIApp:
    wanted = await call.body(SettingsChange)
    await call.to.settings.change(
        PreferenceChange(
            default_model=wanted.default_model,
            titles=wanted.titles,
            permission_default=wanted.permission_default,
            permissions=wanted.permissions,
        )
    )
    return answer(_now(call))


def _now(call: Call) -> SettingsNow:
    settings = call.to.settings
    now = settings.preferences
    return SettingsNow(
        default_model=now.default_model,
        titles=now.titles,
        permission_default=now.permission_default,
        permissions=now.permissions,
        tools=tuple(
            ToolRule(
                name=name,
                about=tool.spec.description,
                changes=tool.changes,
                permission=settings.permission(tool),
            )
            for name, tool in settings.tools.items()
        ),
        sandbox=call.to.sandbox,
        fixed=dict(settings.fixed),
    )


ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/api/settings",
        handler=read,
        tag="settings",
        summary="What is set, and what of it is fixed",
        gives=SettingsNow,
    ),
    Endpoint(
        method="PATCH",
        path="/api/settings",
        handler=change,
        tag="settings",
        summary="Change settings; they count from the next step of every run",
        takes=SettingsChange,
        gives=SettingsNow,
        codes=("model_not_found",),
    ),
)
