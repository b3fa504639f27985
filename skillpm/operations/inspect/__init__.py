"""What only looks: `list`, `show`, `diff`, `verify`, `tree`, `outdated`."""
