"""Change a value of a JSON or TOML document, and leave everything else as it was written."""
