"""The parameters of engine lines: type, unit, range, default, and whether a change needs a restart.

The words of comments are explained in `docs/concepts/words.md`.
"""
