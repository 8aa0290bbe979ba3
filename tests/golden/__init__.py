"""Golden event files: logs of real runs, and what the server said of the session at several cursors.

Every fold of events must come to the same, in whichever language it is written. `python -m
tests.golden` plays the scenes against a real server and writes the files again.
"""
