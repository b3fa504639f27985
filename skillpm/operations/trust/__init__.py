"""Verify who signed skills, and sign them."""
