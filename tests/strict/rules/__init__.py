"""What each wire refuses. A rule is one fact from a provider's reference or from its refusals."""
