"""The tools that come with the server: one module each, and `every` has them all."""
