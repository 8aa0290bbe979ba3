"""Databases that earlier versions wrote, kept as they were: every later version must read them.

`python -m tests.upgrade` freezes one of the present version, beside those of earlier ones. A frozen
file is never written again.
"""
