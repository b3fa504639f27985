"""From the SPECs of a user to requirements of a manifest."""
