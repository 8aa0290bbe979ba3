"""Several real servers on one PostgreSQL."""
