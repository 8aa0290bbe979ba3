"""What things are and may become. No I/O, no async, no clock, no randomness."""
