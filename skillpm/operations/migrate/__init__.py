"""`migrate`: convert flat files to skills."""
