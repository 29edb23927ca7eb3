"""Samples of the fleet, their rates and roll-ups.

The words of comments are explained in `docs/concepts/words.md`.
"""
