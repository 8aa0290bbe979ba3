"""The real server on a real socket, with a model server that the test holds."""
