"""What a person wants done. The only place where two steps meet; every operation gives a value, none prints."""
