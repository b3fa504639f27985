"""`doctor`: find and repair problems, even if other commands refuse to run."""
