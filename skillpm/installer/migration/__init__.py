"""Flat files that become skills: scanned, planned, cleaned up."""
