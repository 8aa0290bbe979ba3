"""Many things at once, over and over."""
