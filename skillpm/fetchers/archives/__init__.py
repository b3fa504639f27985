"""Archive readers: members as entries with name, mode and bytes; no library ever extracts anything to disk."""
