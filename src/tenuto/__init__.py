"""Tenuto: an agent and chat server in which a run belongs to the server."""

__version__ = "0.1.0"
