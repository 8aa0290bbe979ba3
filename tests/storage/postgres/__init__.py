"""The PostgreSQL store alone: doubt, restarts, fences, nodes."""
