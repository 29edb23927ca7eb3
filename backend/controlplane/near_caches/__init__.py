"""The near caches of each instance: those that its server lists, and those that report themselves if the server cannot
list them.

The words of comments are explained in `docs/concepts/words.md`.
"""
