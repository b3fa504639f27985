"""What every operation starts from: the scope, its documents, settings, policies and lock."""
