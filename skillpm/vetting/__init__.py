"""May this content be used? The one check: audit, policies, signatures, reviews."""
