"""Attached files: what they really are, and what a model can be told of them."""
