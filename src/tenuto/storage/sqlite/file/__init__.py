"""The database file: one writer, a few readers, a checkpointer and a lock; all blocking work on it."""
