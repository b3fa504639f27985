"""Commands on skills in OCI registries other than installing them."""
