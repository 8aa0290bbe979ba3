"""Tools of others: MCP servers, spoken with by a process of ours that is started when one is needed."""
