"""A store in one SQLite file."""

from tenuto.storage.sqlite.store import SqliteStore as SqliteStore
