"""What things are: text to frozen values and back. Pure: nothing here opens, runs or asks."""
