"""Rules over metrics, incidents, silences and the mail they send.

The words of comments are explained in `docs/concepts/words.md`.
"""
