"""`skills.json` of a skills directory: built, read, kept current for loaders."""
