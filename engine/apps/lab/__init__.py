"""Runs real applications with the cache and without it: what they gain, and whether their pages are the same."""
