"""Expressions and templates: what a parameter should be.

The words of comments are explained in `docs/concepts/words.md`.
"""
