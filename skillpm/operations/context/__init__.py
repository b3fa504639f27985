"""What every operation starts from: scope, its documents, settings and lock."""
