"""Programs of ours that run in a process of their own: nothing in them may import the server."""
