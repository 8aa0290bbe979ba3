"""The process that speaks with MCP servers: the only place that knows their protocol."""
