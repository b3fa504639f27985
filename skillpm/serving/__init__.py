"""What loaders and agents see: the registry, and later everything rendered from it."""
