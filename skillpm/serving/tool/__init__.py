"""The tool `skill` that models call: its schema, and the answers to calls."""
