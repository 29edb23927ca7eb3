"""Change sets: the only way in which a managed server is altered."""
