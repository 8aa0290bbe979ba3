"""All providers as one: which models there are, what they can do, and who answers for each."""
