"""What the engine needs from the world, in domain words."""
