"""Shared code of tests: databases, clients, real servers. The product never imports it."""
