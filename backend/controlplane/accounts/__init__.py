"""People and their tokens: log-in, roles, scopes.

The words of comments are explained in `docs/concepts/words.md`.
"""
