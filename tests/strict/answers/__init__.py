"""What each wire answers, in its true shapes."""
