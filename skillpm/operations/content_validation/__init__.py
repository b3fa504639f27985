"""Content validation: the checks that new content passes before it is installed, used or loaded."""
