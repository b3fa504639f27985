"""The checks that new content passes before it is installed or used."""
