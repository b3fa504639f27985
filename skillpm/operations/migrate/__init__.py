"""`migrate`: flat files become skills."""
