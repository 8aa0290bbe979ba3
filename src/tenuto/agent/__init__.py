"""The agent: its loop, its context, its tools, and the models that it asks."""
