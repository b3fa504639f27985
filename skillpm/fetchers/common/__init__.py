"""What all fetchers share."""
