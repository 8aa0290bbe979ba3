"""What every store promises. A new store joins by one more name in the fixture."""
