"""Stores: one port, several technologies, one conformance suite."""
