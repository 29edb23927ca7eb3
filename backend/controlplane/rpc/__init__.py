"""The RPC dialect of the managed service, version 2014-08-15, at `/`: for its official SDKs.

This is only a translation: the signer is a user of `accounts`, and every action uses the services of the REST API, with
its serializers, roles and audit. Deliberately absent: regions, billing, networks, read-only instances, temporary
credentials.

The words of comments are explained in `docs/concepts/words.md`.
"""
