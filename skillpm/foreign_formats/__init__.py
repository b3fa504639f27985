"""What other tools write down of skills, one reader each."""
