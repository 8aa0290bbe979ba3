"""What a model is told, and what becomes of its answer."""
