"""`backup list` and `backup restore`: what `--force` set aside."""
