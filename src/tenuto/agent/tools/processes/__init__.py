"""Processes that a tool starts, and how each ends to its last grandchild."""
