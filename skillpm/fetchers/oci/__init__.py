"""Fetching from OCI registries."""
