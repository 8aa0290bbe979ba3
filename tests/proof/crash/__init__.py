"""The server is killed at each of its durable steps; afterwards the contract must hold."""
