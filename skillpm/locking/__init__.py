"""Which versions and commits a scope is locked to: resolve, check and upgrade."""
