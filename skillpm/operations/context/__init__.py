"""What every operation starts from: the scope, its documents, settings and lock."""
