"""The skills directory: layout, state, staging, journal, backups."""
