"""Model servers that are as strict as the true ones: what they refuse, and what they answer."""
