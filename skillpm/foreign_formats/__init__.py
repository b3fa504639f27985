"""Parsers for the lockfiles and manifests of other tools, for `skillpm import`."""
