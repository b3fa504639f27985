"""Create, extend and check an index."""
