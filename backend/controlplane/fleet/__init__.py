"""Instances and their classes: what is managed, and with which parameters."""
