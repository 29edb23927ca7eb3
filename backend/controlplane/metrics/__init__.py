"""Samples of the fleet, their rates and roll-ups."""
