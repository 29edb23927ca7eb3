"""The effect of the cache per statement over time.

A server only has counts since its start, so they are stored hourly.

The words of comments are explained in `docs/concepts/words.md`.
"""
