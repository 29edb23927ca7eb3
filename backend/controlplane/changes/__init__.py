"""Change sets, which are the only way to alter a managed server."""
