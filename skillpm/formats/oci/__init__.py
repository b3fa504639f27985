"""Documents of OCI registries: references, manifests, indexes, and challenges to log in."""
