"""Signatures outside the content of a skill: in git, and in an OCI registry."""
