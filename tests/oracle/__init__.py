"""The contract once, in plain dicts: what every proof holds the server against. None of our code."""
