"""Documents about trust: what the audit does with its findings."""
