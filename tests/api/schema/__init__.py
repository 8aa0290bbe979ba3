"""The server against its own description, by a tool that knows nothing else of it."""
