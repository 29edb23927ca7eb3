"""The audit trail: who did what, when and from where.

Events are written in the transaction of the change they describe.

The words of comments are explained in `docs/concepts/words.md`.
"""
