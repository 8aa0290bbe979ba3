"""Model providers, against real sockets."""
