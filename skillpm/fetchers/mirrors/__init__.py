"""Take the content of locked skills from mirrors."""
