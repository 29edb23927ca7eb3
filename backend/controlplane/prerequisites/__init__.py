"""Checks whether the fast query cache may be enabled on an instance, and says how to fix what is missing."""
