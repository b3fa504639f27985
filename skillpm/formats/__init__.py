"""The documents on disk, one module each: text to frozen values and back."""
