"""`backup list` and `backup restore`."""
