"""What every noun needs: errors, ids, paging, concurrency control, sealing of secrets. Knows no noun.

The words of comments are explained in `docs/concepts/words.md`.
"""
