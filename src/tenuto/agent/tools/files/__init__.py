"""Files of a workspace: found, read and replaced, never outside it and never the server's own."""
