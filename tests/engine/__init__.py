"""The engine without HTTP, over a store that does what a test says."""
