"""Measurements of a real server on this machine: `make bench`."""
