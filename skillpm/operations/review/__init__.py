"""`review`: unreviewed content, and the reviewers of each skill."""
