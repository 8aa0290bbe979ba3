"""Histories: what many clients did and saw while the server was mistreated, and what it proves."""
