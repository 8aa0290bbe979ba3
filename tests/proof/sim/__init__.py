"""The whole engine on an event loop of our own: seeded, with virtual time and hostile actors."""
