"""People and their tokens: log-in, roles, scopes."""
