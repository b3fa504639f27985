"""The command line: the one place that prints, and the one that catches."""
