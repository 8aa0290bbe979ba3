"""What each kind of provider is asked and answers: one module a wire, one for its answers."""
