"""What tests share: servers and clients that a test holds in its hand."""
