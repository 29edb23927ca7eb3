"""Checks whether the fast query cache may be enabled on an instance, and says how to fix what is missing.

The words of comments are explained in `docs/concepts/words.md`.
"""
