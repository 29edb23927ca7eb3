"""Settings that administrators may change at run time: approval by a second person, networks, retention, mail.

The words of comments are explained in `docs/concepts/words.md`.
"""
