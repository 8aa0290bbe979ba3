"""A store that lives as long as its object: for tests and simulations."""

from tenuto.storage.memory.store import MemoryStore as MemoryStore
