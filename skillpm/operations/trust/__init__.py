"""Signatures: who made them, and how skills are signed."""
