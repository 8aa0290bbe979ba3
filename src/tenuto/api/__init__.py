"""The HTTP face: routes by resource, server-sent events, errors, auth."""
