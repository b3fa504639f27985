"""What other tools write down of skills, read as sources. Pure: text in, values out."""
