"""One template applied to many instances, with bounded parallelism.

The words of comments are explained in `docs/concepts/words.md`.
"""
