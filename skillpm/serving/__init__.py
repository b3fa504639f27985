"""What an agent is given: skills loaded, listed, searched, as far as permissions allow."""
