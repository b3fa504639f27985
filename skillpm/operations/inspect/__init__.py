"""Read-only commands: `list`, `show`, `diff`, `verify`, `tree`, `outdated`."""
