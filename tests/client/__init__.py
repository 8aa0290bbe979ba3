"""The client against a server that misbehaves as it is told."""
