"""What was asked for: the text a person types, and the requirement it means. Pure."""
