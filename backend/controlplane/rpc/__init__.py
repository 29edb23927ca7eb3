"""The RPC dialect of the managed service, version 2014-08-15, at `/`: for its official SDKs.

A translation and nothing else: who signs is somebody of `accounts`, every action goes through the services that the
REST API uses, with its serializers, its roles and its audit. Deliberately absent: regions, billing, networks, read-only
instances, temporary credentials.
"""
