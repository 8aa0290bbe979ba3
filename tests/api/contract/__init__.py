"""The contract from outside: what any client can rely on, call by call."""
