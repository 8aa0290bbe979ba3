"""What the commands of the terminal have in common: a client that shows a run and tells its ending."""
