"""What is asked of an index: which versions there are, and their bytes."""
