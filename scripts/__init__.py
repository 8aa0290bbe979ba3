"""Chores of the project; none of it is needed to run a server."""
