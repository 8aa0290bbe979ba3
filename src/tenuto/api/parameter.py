"""Parameters: each says once what it may be, to be read by it and to be described."""

from dataclasses import dataclass
from typing import Annotated, Any, Generic, TypeVar

import msgspec
from msgspec import Meta

from tenuto.core.error import InvalidInput
from tenuto.core.value import WorkspaceId

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter(Generic[T]):
    """One of the query."""

    name: str
    kind: Any
    """The type of its value, with its range."""
    usual: T
    """What counts when it is not given."""
    meaning: str
    repeats: int = 1
    """How often it may be given."""

    def read(self, given: str | None) -> T:
        """The value, of the right type. Raises InvalidInput."""
        if given is None:
            return self.usual
        try:
            value: T = msgspec.convert(given, self.kind, strict=False)
        except msgspec.ValidationError as error:
            raise InvalidInput(f"{self.name}: {error}") from None
        return value

    def described(self) -> dict[str, Any]:
        (schema,), named = msgspec.json.schema_components([self.kind])
        # The words of an enum are few: they stand where they are used.
        schema = next(iter(named.values())) if "$ref" in schema else schema
        if self.usual not in (None, ""):
            schema["default"] = self.usual
        if self.repeats > 1:
            schema = {"type": "array", "items": schema, "maxItems": self.repeats}
        return {"name": self.name, "in": "query", "schema": schema, "description": self.meaning}


AFTER: Parameter[str | None] = Parameter(
    name="after",
    kind=str,
    usual=None,
    meaning="The last `seq` seen, or `now` for a snapshot first.",
)
CURSOR: Parameter[str | None] = Parameter(
    name="cursor", kind=str, usual=None, meaning="`next` of the page before."
)
LIMIT: Parameter[int] = Parameter(
    name="limit",
    kind=Annotated[int, Meta(ge=1, le=200)],
    usual=50,
    meaning="How many rows, 1 to 200.",
)
WORKSPACE: Parameter[WorkspaceId | None] = Parameter(
    name="workspace", kind=str, usual=None, meaning="Only of this workspace."
)
