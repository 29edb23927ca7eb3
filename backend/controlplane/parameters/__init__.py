"""Expressions and templates: what a parameter should be."""
