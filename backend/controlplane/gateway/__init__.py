"""The only package that connects to managed servers, mail servers, message receivers and the identity provider, and
that starts server processes.

A GatewayError says by `is_permanent` whether trying again can help.

The words of comments are explained in `docs/concepts/words.md`.
"""
