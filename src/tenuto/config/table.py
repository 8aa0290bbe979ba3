"""The table of all settings, read off their annotations: one row, three spellings."""

import msgspec

from tenuto.config.kind import Field, Kind, fields_of, kind_of
from tenuto.config.settings import Settings
from tenuto.core.value import Value

ENV_PREFIX = "TENUTO_"
NOT_IN_TABLE = ("providers", "rules", "mcp", "config", "fixed")


class Setting(Value):
    """One row: `limits.steps` is also `TENUTO_LIMITS_STEPS` and `--limits-steps`."""

    key: str
    kind: Kind
    meaning: str
    default: str
    """For people."""
    many: bool
    """A list: its flag may be given several times, its variable takes commas."""

    @property
    def env(self) -> str:
        return ENV_PREFIX + self.key.replace(".", "_").upper()

    @property
    def flag(self) -> str:
        return "--" + self.key.replace(".", "-").replace("_", "-")


def settings_table() -> tuple[Setting, ...]:
    """Every setting, in the order in which `settings.py` says them."""
    rows: list[Setting] = []
    for field in fields_of(Settings):
        if field.name in NOT_IN_TABLE:
            continue
        if isinstance(field.hint, type) and issubclass(field.hint, msgspec.Struct):
            rows += (_row(inner, f"{field.name}.") for inner in fields_of(field.hint))
        else:
            rows.append(_row(field, ""))
    return tuple(rows)


def default_text(field: Field) -> str:
    """A field's default as a person would write it."""
    said = (field.meta.extra or {}).get("default")
    if said:
        return str(said)
    match field.default:
        case bool(switch):
            return "`on`" if switch else "`off`"
        case () | None | "" | msgspec.NODEFAULT:
            return "none"
        case value:
            return f"`{value}`"


def _row(field: Field, prefix: str) -> Setting:
    return Setting(
        key=prefix + field.name,
        kind=kind_of(field.hint, field.meta),
        meaning=field.meta.description or "",
        default=default_text(field),
        many=getattr(field.hint, "__origin__", None) is tuple,
    )
