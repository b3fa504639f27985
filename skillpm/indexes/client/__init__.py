"""Read indexes: list the versions of skills and download their archives."""
