"""Change sets, which are the only way to alter a managed server.

The words of comments are explained in `docs/concepts/words.md`.
"""
