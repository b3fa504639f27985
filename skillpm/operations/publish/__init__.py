"""Publish skills: as an archive, in an index, or in an OCI registry."""
