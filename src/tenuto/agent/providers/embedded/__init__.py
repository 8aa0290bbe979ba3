"""The embedded model: its file, the process that it runs in, and the provider that asks it."""
