"""A store in PostgreSQL, for one node or many."""

from tenuto.storage.postgres.migration import Durability
from tenuto.storage.postgres.store import PostgresStore

__all__ = ["Durability", "PostgresStore"]
