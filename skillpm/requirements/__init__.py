"""Requirements: SPEC arguments, sources, and the requirements of manifests and skills."""
