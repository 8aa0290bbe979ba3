"""Whatever comes from outside: every run ends, and nobody else waits."""
