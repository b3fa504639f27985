"""`review`: what nobody has read yet, and who has read what."""
