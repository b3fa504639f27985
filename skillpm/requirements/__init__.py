"""What was asked for: a SPEC, its source, the requirements of manifests and skills."""
