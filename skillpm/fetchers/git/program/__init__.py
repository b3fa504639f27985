"""The git program: how it is started, its configuration, its errors and its cache."""
