"""The tools that come with the server: `kinds` has them all."""
