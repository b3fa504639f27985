"""What agents are served: skills loaded, listed and searched, as far as permissions allow."""
