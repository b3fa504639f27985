"""What goes to others: packed skills, indexes and OCI artifacts."""
