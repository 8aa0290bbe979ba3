"""The one room that knows every class: it builds the server from its settings and runs it."""

from tenuto.wiring.process import serve

__all__ = ["serve"]
