"""Checks of which the code is more than a pattern."""
