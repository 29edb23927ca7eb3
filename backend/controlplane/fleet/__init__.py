"""Instances and their classes: what is managed, and with which parameters.

The words of comments are explained in `docs/concepts/words.md`.
"""
