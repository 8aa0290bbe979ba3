"""The built-in tools, for real: real files, real processes, real sockets."""
