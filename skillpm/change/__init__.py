"""Change a scope: plan and execute."""
