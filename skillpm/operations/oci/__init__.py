"""What is made of skills in OCI registries, beside installing them."""
